// SPDX-License-Identifier: Apache-2.0
// Plugin of clang-tidy 14 that limits checks to the project's own code. Checks would otherwise
// visit all declarations of system headers and discard the results. Later versions of clang-tidy do
// the same; it is five times as fast.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include <memory>
#include <string>
#include <vector>

namespace {

class OwnCode : public clang::ASTConsumer {
 public:
  // Runs before the checks and limits their traversal of the shared tree.
  void HandleTranslationUnit(clang::ASTContext& context) override {
    const clang::SourceManager& sources = context.getSourceManager();
    std::vector<clang::Decl*> own;
    for (clang::Decl* declaration : context.getTranslationUnitDecl()->decls()) {
      const clang::SourceLocation location = sources.getExpansionLoc(declaration->getLocation());
      if (location.isValid() && !sources.isInSystemHeader(location)) own.push_back(declaration);
    }
    context.setTraversalScope(own);
  }
};

class Action : public clang::PluginASTAction {
 public:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& /*compiler*/,
                                                        llvm::StringRef /*file*/) override {
    return std::make_unique<OwnCode>();
  }
  bool ParseArgs(const clang::CompilerInstance& /*compiler*/,
                 const std::vector<std::string>& /*words*/) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<Action> registration("own-code", "checks our own code");

}  // namespace
