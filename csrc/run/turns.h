#pragma once
// Things that one run uses at a time.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace plait {

// The first one is there from the beginning. Where all are in use, a run gets another, or waits for `alone`.
template <class T>
class Turns {
 public:
  Turns() = default;
  void begin(std::function<std::unique_ptr<T>()> make, bool alone) {
    make_ = std::move(make);
    alone_ = alone;
    all_.push_back(make_());
    idle_.push_back(all_.back().get());
  }
  T& first() const { return *all_.front(); }
  size_t count() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }

  // One of them, until the end of its scope.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns), mine_(turns.take()) {}
    ~Turn() { turns_.give_back(mine_); }
    Turn(const Turn&) = delete;
    T& operator*() const { return *mine_; }
    T* operator->() const { return mine_; }

   private:
    Turns& turns_;
    T* mine_;
  };

 private:
  T* take() {
    std::unique_lock lock(mutex_);
    if (alone_) free_.wait(lock, [&] { return !idle_.empty(); });
    if (!idle_.empty()) {
      T* out = idle_.back();
      idle_.pop_back();
      return out;
    }
    lock.unlock();
    std::unique_ptr<T> made = make_();
    lock.lock();
    idle_.reserve(all_.size() + 1);  // giving back allocates nothing
    all_.push_back(std::move(made));
    return all_.back().get();
  }
  void give_back(T* one) {
    {
      const std::lock_guard lock(mutex_);
      idle_.push_back(one);
    }
    free_.notify_one();
  }

  std::function<std::unique_ptr<T>()> make_;
  bool alone_ = true;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable free_;
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> idle_;
};

}  // namespace plait
