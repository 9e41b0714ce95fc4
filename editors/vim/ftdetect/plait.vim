" Made by tools/make_grammars.py from editors/grammar.py.
autocmd BufRead,BufNewFile *.plait,*.kir setfiletype plait
