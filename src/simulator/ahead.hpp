// SPDX-License-Identifier: Apache-2.0
// Results that are made in threads before somebody asks for them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace clprobe {

/// Whoever asks does what nobody has begun himself, so that he never waits for anything but what he
/// asked for. What has begun is ended before this object is.
template <typename Result>
class Ahead {
 public:
  using Make = std::function<Result()>;

  /// `threads`: beside the one that asks, which are started with the first results that are to be
  /// made. As many as there are to be had, or 0, do as well.
  explicit Ahead(unsigned threads) : max_threads_(threads) {}
  ~Ahead() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      waiting_.clear();
    }
    changed_.notify_all();
    for (std::thread& each : threads_) each.join();
  }
  Ahead(const Ahead&) = delete;
  Ahead(Ahead&&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  Ahead& operator=(Ahead&&) = delete;

  [[nodiscard]] bool has(const std::string& key) const { return tasks_.contains(key); }
  /// In the order of these calls. `make` runs in any thread, once.
  void add(const std::string& key, Make make) {
    if (max_threads_ == 0) return;
    const auto task = std::make_shared<Task>(std::move(make));
    if (!tasks_.emplace(key, task).second) return;
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(task);
    }
    changed_.notify_one();
    if (threads_.size() < max_threads_) start_thread();
  }
  /// What was added with this key, which is forgotten; throws what making it threw. To be called
  /// with a key that has() knows.
  Result take(const std::string& key) {
    const std::shared_ptr<Task> task = tasks_.at(key);
    tasks_.erase(key);
    task->run();
    return task->result.get_future().get();
  }

 private:
  struct Task {
    explicit Task(Make with) : make(std::move(with)) {}
    /// Only the first to come does it.
    void run() {
      if (is_begun.exchange(true)) return;
      try {
        result.set_value(make());
      } catch (...) {
        result.set_exception(std::current_exception());
      }
    }
    Make make;
    std::atomic<bool> is_begun{false};
    std::promise<Result> result{};
  };

  void start_thread() {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      max_threads_ = static_cast<unsigned>(threads_.size());  // there are no more to be had
    }
  }
  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
      if (ends_) return;
      const std::shared_ptr<Task> task = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      task->run();
    }
  }

  unsigned max_threads_;
  std::map<std::string, std::shared_ptr<Task>> tasks_{};  // of the thread that asks alone
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<std::shared_ptr<Task>> waiting_{};
  bool ends_{false};
  std::vector<std::thread> threads_{};
};

}  // namespace clprobe
