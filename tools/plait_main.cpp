#include "plait_command.h"

int main(int argc, char** argv) { return plait::tool::command(argc, argv); }
