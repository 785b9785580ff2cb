// The generations that run: counted against the queue's cap, listed, and cancelled by id.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/json.h"

namespace lockstep {

class Running {
 public:
  // `most` generations at once, those in the queue included.
  explicit Running(int64_t most) : most_(most) {}

  // A generation's place, given back by dropping it.
  class Place {
   public:
    Place(Running& running, std::string id) : running_(&running), id_(std::move(id)) {}
    ~Place() { running_->leave(id_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Once it runs: what it is, and how to end it.
    void begin(std::string path, int64_t prompt_tokens, std::function<void()> cancel);
    void count_token();

   private:
    Running* running_;
    std::string id_;
  };

  // Null: all places are taken. An id that another generation has is made another one.
  std::unique_ptr<Place> enter(std::string& id);

  // False: no such generation.
  bool cancel(const std::string& id);

  json::array list() const;
  int64_t most() const { return most_; }

 private:
  struct Entry {
    std::string path;
    int64_t prompt_tokens = 0;
    int64_t reply_tokens = 0;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    std::function<void()> cancel = nullptr;
  };
  void leave(const std::string& id);

  const int64_t most_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace lockstep
