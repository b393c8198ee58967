// fork, wait, classify.
// Licence: BSD-3-Clause.
#include "child.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace etbk::pte::differential {

ChildResult in_child(const std::function<int(volatile int* stage)>& work, unsigned seconds) {
  static auto* const shared = static_cast<volatile int*>(
      mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *shared = 0;
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    if (std::getenv("ETBK_DIFFERENTIAL_VERBOSE") == nullptr) {
      dup2(null, STDERR_FILENO);
      dup2(null, STDOUT_FILENO);
    }
    alarm(seconds);
    _exit(work(shared));
  }
  int status = 0;
  waitpid(child, &status, 0);
  ChildResult result;
  result.stage = *shared;
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    result.hung = result.signal == SIGALRM;
  } else {
    result.answer = WEXITSTATUS(status);
  }
  return result;
}

}  // namespace etbk::pte::differential
