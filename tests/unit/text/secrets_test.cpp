// SPDX-License-Identifier: Apache-2.0
// What may be secret of a command line.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "text/api/secrets.hpp"

namespace clprobe {
namespace {

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("secrets: values of their names are hidden, in whatever form they are given") {
  for (const Words& words : {Words{"--password=hunter2"},
                             {"--password", "hunter2"},
                             {"-p", "hunter2"},
                             {"-phunter2"},
                             {"--api-key=hunter2"},
                             {"--apiKey", "hunter2"},
                             {"-token", "hunter2"},
                             {"API_KEY=hunter2"},
                             {"--env=DB_PASSWORD=hunter2"},
                             {"-e", "PGPASSWORD=hunter2"},
                             {"-eMYSQL_PWD=hunter2"},
                             {"-DTOKEN=hunter2"},
                             {"-D", "SECRET=hunter2"},
                             {"https://alice:hunter2@host/x"},
                             {"--url=https://hunter2@host/x"},
                             {"alice:hunter2@host"},
                             {"-u", "alice:hunter2"},
                             {"https://host/?a=b&access_token=hunter2"},
                             {"-H", "Authorization: Bearer hunter2"},
                             {"--header=X-Api-Key: hunter2"},
                             {"{\"password\": \"hunter2\"}"},
                             {"--set", "a.secret=hunter2"},
                             {"import x; token = 'hunter2'"},
                             {"Server=db;Password=hunter2;"},
                             {"--pass", "hunter2"},
                             {"--password", "--token", "hunter2"},
                             {"--aws-secret-access-key", "hunter2"},
                             {"ghp_hunter2hunter2hunter2"},
                             {"--x=AKIAhunter2hunter2ABCD"},
                             {"sk-proj-hunter2-hunter2"},
                             {"pass:hunter2"},
                             {"--password=", "hunter2"},
                             {"-H", "Authorization:", "Bearer", "hunter2"},
                             {"--client-credential:hunter2"},
                             {"-passwd", "hunter2"}}) {
    for (const std::string& word : without_secrets(words)) {
      CAPTURE(word);
      CHECK(word.find("hunter2") == std::string::npos);
    }
  }
  CHECK(without_secrets({"--password=x", "-v", "--url=ftp://a:b@host/c", "-u", "me:x"}) ==
        Words{"--password=***", "-v", "--url=ftp://***@host/c", "-u", "me:***"});
}

TEST_CASE("secrets: other words stay") {
  const Words words{"./app",
                    "-p",
                    "0",
                    "--max-tokens=512",
                    "--tokenizer",
                    "fast",
                    "-print",
                    "-n",
                    "64",
                    "a=b",
                    "--no-password",
                    "x",
                    "-p8080",
                    "--size",
                    "1024:64",
                    "https://host/a",
                    "in.png",
                    "-DN=4",
                    "--author",
                    "me"};
  CHECK(without_secrets(words) == words);
}

TEST_CASE("secrets: of build options, numbers and types stay") {
  CHECK(options_without_secrets(
            "-DTOKEN=hunter2  -DKEY=uint4 -DKEY_BITS=128 -cl-std=CL1.2 -D API_KEY=x -I/a") ==
        "-DTOKEN=***  -DKEY=uint4 -DKEY_BITS=128 -cl-std=CL1.2 -D API_KEY=*** -I/a");
}

}  // namespace clprobe
