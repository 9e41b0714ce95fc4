" Made by tools/make_grammars.py from editors/grammar.py.
if exists('b:current_syntax')
  finish
endif
syntax case match
syntax sync minlines=200

syntax match plaitPunctuation /\v[(){}:,;\]]/
syntax match plaitOperator /\v\.\.|\-\>|[<>!=]\=|[-+*<>=.]/
syntax region plaitOpenExtents matchgroup=plaitPunctuation start=/\v\[/ end=/\v\]/ contains=@plaitInExtents
syntax region plaitOpenLayout matchgroup=plaitPunctuation start=/\v\{([ \t]*%(\d+[ \t]*\:|\}))@=/ end=/\v\}/ contains=@plaitInLayout
syntax match plaitName /\v%(<|>)[A-Za-z_]\w*%(\.[A-Za-z_]\w*)*/
syntax match plaitNumber /\v%(<|>)\d+%(\.(\.)@!\d*)?%([eE][-+]?\d+)?%(<|>)|\.\d+%([eE][-+]?\d+)?%(<|>)/
syntax match plaitWordOperator /\v%(<|>)%(and|not|or)%(<|>)/
syntax match plaitKeyword /\v%(<|>)%(active|aliases|allocation|at|bandwidth|below|beside|buffers|by|contraction|counters|from|fusion|given|granule|in|inline|integers|joins|keep|kernel|latency|let|linear|local|loops|matmul|mesh|narrow|of|on|over|param|partial|phase|phases|program|schedule|segment|stages|status|stored|strided|strides|taken|target|to|transposed|turned|using|with|workspaces)%(<|>)/
syntax match plaitChoice /\v%(<|>)%(aligned|argument|block|block_x|block_y|block_z|cluster|clusters|comm|compute|contiguous|counter|cpu|cpu_thread|cuda|lanes|lanewise|read|replace|reversed|serial|shared|splat|stack|stream|thread_x|thread_y|thread_z|threads|threads_y|unroll|update|vectorize|warp|workspace|write)%(<|>)/
syntax match plaitStatement /\v%(<|>)%(accumulate|all_gather|all_reduce|all_to_all|alloc|assign|atomic|await|bind|commit|convert|coordinate|copy|copy_async|fold|for|gather_block|gather_range|half|if|last_block|launch|library|literal|load|load_matrix|load_of_block|merge|mma|prefix|random|record|reduce_scatter|round|running|shuffle|start|store|sync|transpose|variable|wait)%(<|>)/
syntax match plaitConstant /\v%(<|>)%(false|inf|nan|null|true)%(<|>)/
syntax region plaitOpenPartial matchgroup=plaitPunctuation start=/\v%((%(<|>)partial)@<=|(%(<|>)partial )@<=)\(/ end=/\v\)/ contains=@plaitInPartial
syntax region plaitOpenLoops matchgroup=plaitPunctuation start=/\v%((%(<|>)loops)@<=|(%(<|>)loops )@<=)\(/ end=/\v\)/ contains=@plaitInLoops
syntax match plaitFunction /\v%(<|>)%(ceildiv|chunk|chunk_start|floordiv|max|min|mod|select)([ \t]*\()@=/
syntax match plaitOp /\v%(<|>)%(abs|acos|acosh|add|all|all_gather|all_reduce|all_to_all|amax|amin|any|argmax|argmin|argsort|asin|asinh|atan|atan2|atanh|batch_norm|bitcast|bitwise_and|bitwise_not|bitwise_or|bitwise_xor|broadcast|cast|cat|cbrt|ceil|celu|clamp|copysign|cos|cosh|cross_entropy|cummax|cummin|cumprod|cumsum|digamma|div|dropout|einsum|elu|embedding|eq|erf|erfc|erfinv|exp|exp2|expand|expm1|eye|flip|floor|floor_divide|fma|fmax|fmin|fmod|frac|full|gather|gather_block|gather_range|ge|gelu|gelu_erf|gelu_tanh|group_norm|gt|hardshrink|hardsigmoid|hardswish|hardtanh|hypot|index_select|iota|isfinite|isinf|isnan|layer_norm|le|leaky_relu|lerp|lgamma|linear|local_slice|log|log10|log1p|log2|log_sigmoid|log_softmax|logaddexp|logcumsumexp|logical_and|logical_not|logical_or|logical_xor|logsumexp|lt|matmul|max|max_with_argmax|mean|min|min_with_argmin|mish|mse|mul|ne|neg|norm|normal|one_hot|pad|permute|pow|prod|reciprocal|reduce_scatter|relu|relu6|remainder|repeat|reshape|reshard|rms_norm|roll|rope|round|rsqrt|scaled_dot_product_attention|scatter|selu|set|shift_left|shift_right|sigmoid|sign|signbit|silu|sin|sinh|size|slice|slice_at|slice_update|softmax|softplus|softshrink|softsign|sort|split|sqrt|square|squeeze|stack|std|sub|sum|swiglu|take_along|tan|tanh|tanhshrink|topk|tril|triu|trunc|uniform|unsqueeze|var|var_mean|where|xlog1py|xlogy)([ \t]*\()@=/
syntax match plaitSchedule /\v(%(<|>)schedule )@<=[a-z]\w*/
syntax match plaitDtype /\v%(<|>)[A-Za-z_]\w*(\[)@=/
syntax match plaitAttribute /\v%(<|>)[A-Za-z_]\w*([ \t]*\=(\=)@!)@=/
syntax match plaitDtype /\v%(<|>)%(bf16|bool|f16|f32|f64|f8e4m3|f8e5m2|i16|i32|i64|i8|u16|u32|u64|u8)%(x\d+)?%(<|>)/
syntax match plaitTensor /\v%(<|>)_%(<|>)/
syntax match plaitGlobal /\v\@\w+/
syntax match plaitTensor /\v\%\w+/
syntax match plaitString /\v\"[ !#-~]*\"/
syntax match plaitComment /\v\#.*/
syntax match plaitDirective /\v\# %(RUN\:|EXPECT%(<|>)).*/

syntax match plaitLayoutPunctuation contained /\v[:,\[\]]/
syntax match plaitLayoutAxis contained /\v%(<|>)[A-Za-z_]\w*/
syntax match plaitLayoutKeyword contained /\v%(<|>)%(granule|local)%(<|>)/
syntax match plaitLayoutNumber contained /\v%(<|>)\d+%(\.(\.)@!\d*)?%([eE][-+]?\d+)?%(<|>)|\.\d+%([eE][-+]?\d+)?%(<|>)/
syntax match plaitLayoutComment contained /\v\#.*/
syntax match plaitLayoutDirective contained /\v\# %(RUN\:|EXPECT%(<|>)).*/
syntax cluster plaitInLayout contains=plaitLayoutPunctuation,plaitLayoutAxis,plaitLayoutKeyword,plaitLayoutNumber,plaitLayoutComment,plaitLayoutDirective

syntax match plaitExtentsPunctuation contained /\v[(),:]/
syntax match plaitExtentsOperator contained /\v\.\.|\-\>|[<>!=]\=|[-+*<>=.]/
syntax region plaitExtentsOpenExtents contained matchgroup=plaitPunctuation start=/\v\[/ end=/\v\]/ contains=@plaitInExtents
syntax match plaitExtentsName contained /\v%(<|>)[A-Za-z_]\w*%(\.[A-Za-z_]\w*)*/
syntax match plaitExtentsNumber contained /\v%(<|>)\d+%(\.(\.)@!\d*)?%([eE][-+]?\d+)?%(<|>)|\.\d+%([eE][-+]?\d+)?%(<|>)/
syntax match plaitExtentsConstant contained /\v%(<|>)%(false|inf|nan|null|true)%(<|>)/
syntax match plaitExtentsWordOperator contained /\v%(<|>)%(and|not|or)%(<|>)/
syntax match plaitExtentsFunction contained /\v%(<|>)%(ceildiv|chunk|chunk_start|floordiv|max|min|mod|select)([ \t]*\()@=/
syntax match plaitExtentsTensor contained /\v\%\w+/
syntax match plaitExtentsComment contained /\v\#.*/
syntax match plaitExtentsDirective contained /\v\# %(RUN\:|EXPECT%(<|>)).*/
syntax cluster plaitInExtents contains=plaitExtentsPunctuation,plaitExtentsOperator,plaitExtentsOpenExtents,plaitExtentsName,plaitExtentsNumber,plaitExtentsConstant,plaitExtentsWordOperator,plaitExtentsFunction,plaitExtentsTensor,plaitExtentsComment,plaitExtentsDirective

syntax match plaitLoopsPunctuation contained /\v\,/
syntax region plaitLoopsOpenLoops contained matchgroup=plaitPunctuation start=/\v\(/ end=/\v\)/ contains=@plaitInLoops
syntax match plaitLoopsOperator contained /\v\.\.|\-\>|[<>!=]\=|[-+*<>=.]/
syntax match plaitLoopsName contained /\v%(<|>)[A-Za-z_]\w*%(\.[A-Za-z_]\w*)*/
syntax match plaitLoopsNumber contained /\v%(<|>)\d+%(\.(\.)@!\d*)?%([eE][-+]?\d+)?%(<|>)|\.\d+%([eE][-+]?\d+)?%(<|>)/
syntax match plaitLoopsChoice contained /\v%(<|>)%(aligned|argument|block|block_x|block_y|block_z|cluster|clusters|comm|compute|contiguous|counter|cpu|cpu_thread|cuda|lanes|lanewise|read|replace|reversed|serial|shared|splat|stack|stream|thread_x|thread_y|thread_z|threads|threads_y|unroll|update|vectorize|warp|workspace|write)%(<|>)/
syntax match plaitLoopsFunction contained /\v%(<|>)%(ceildiv|chunk|chunk_start|floordiv|max|min|mod|select)([ \t]*\()@=/
syntax match plaitLoopsTransform contained /\v%(<|>)%(merge|parallel|reorder|split)([ \t]*\()@=/
syntax match plaitLoopsComment contained /\v\#.*/
syntax match plaitLoopsDirective contained /\v\# %(RUN\:|EXPECT%(<|>)).*/
syntax cluster plaitInLoops contains=plaitLoopsPunctuation,plaitLoopsOpenLoops,plaitLoopsOperator,plaitLoopsName,plaitLoopsNumber,plaitLoopsChoice,plaitLoopsFunction,plaitLoopsTransform,plaitLoopsComment,plaitLoopsDirective

syntax match plaitPartialPunctuation contained /\v[:,]/
syntax match plaitPartialAxis contained /\v%(<|>)[A-Za-z_]\w*/
syntax match plaitPartialChoice contained /\v(\: )@<=[a-z]\w*/
syntax match plaitPartialComment contained /\v\#.*/
syntax match plaitPartialDirective contained /\v\# %(RUN\:|EXPECT%(<|>)).*/
syntax cluster plaitInPartial contains=plaitPartialPunctuation,plaitPartialAxis,plaitPartialChoice,plaitPartialComment,plaitPartialDirective

highlight default link plaitAttribute Tag
highlight default link plaitChoice Constant
highlight default link plaitComment Comment
highlight default link plaitConstant Boolean
highlight default link plaitDirective SpecialComment
highlight default link plaitDtype Type
highlight default link plaitExtentsComment Comment
highlight default link plaitExtentsConstant Boolean
highlight default link plaitExtentsDirective SpecialComment
highlight default link plaitExtentsFunction Macro
highlight default link plaitExtentsNumber Number
highlight default link plaitExtentsOperator Operator
highlight default link plaitExtentsPunctuation Delimiter
highlight default link plaitExtentsTensor Identifier
highlight default link plaitExtentsWordOperator Operator
highlight default link plaitFunction Macro
highlight default link plaitGlobal Label
highlight default link plaitKeyword Keyword
highlight default link plaitLayoutAxis Special
highlight default link plaitLayoutComment Comment
highlight default link plaitLayoutDirective SpecialComment
highlight default link plaitLayoutKeyword Keyword
highlight default link plaitLayoutNumber Number
highlight default link plaitLayoutPunctuation Delimiter
highlight default link plaitLoopsChoice Constant
highlight default link plaitLoopsComment Comment
highlight default link plaitLoopsDirective SpecialComment
highlight default link plaitLoopsFunction Macro
highlight default link plaitLoopsNumber Number
highlight default link plaitLoopsOperator Operator
highlight default link plaitLoopsPunctuation Delimiter
highlight default link plaitLoopsTransform PreProc
highlight default link plaitNumber Number
highlight default link plaitOp Function
highlight default link plaitOperator Operator
highlight default link plaitPartialAxis Special
highlight default link plaitPartialChoice Constant
highlight default link plaitPartialComment Comment
highlight default link plaitPartialDirective SpecialComment
highlight default link plaitPartialPunctuation Delimiter
highlight default link plaitPunctuation Delimiter
highlight default link plaitSchedule Structure
highlight default link plaitStatement Statement
highlight default link plaitString String
highlight default link plaitTensor Identifier
highlight default link plaitWordOperator Operator

let b:current_syntax = 'plait'
