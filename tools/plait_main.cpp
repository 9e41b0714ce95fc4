#include "base/progress.h"
#include "plait_command.h"

int main(int argc, char** argv) {
  plait::show_progress(true);
  return plait::tool::command(argc, argv);
}
