"""python -m plait: the command."""

from plait.command import main

main()
