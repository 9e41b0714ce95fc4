"""Pygments' lexer of the text forms (docs/ir.md). Made by tools/make_grammars.py from editors/grammar.py."""

from pygments.lexer import RegexLexer
from pygments.token import (
    Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace,
)


class PlaitLexer(RegexLexer):
    """Fusions, kernels and programs of plait."""

    name = "plait"
    aliases = ["plait"]
    filenames = ['*.plait', '*.kir']
    tokens = {
        'root': [
            (r'\s+', Whitespace),
            ('# (?:RUN:|EXPECT\\b).*', Comment.Special),
            ('#.*', Comment.Single),
            ('"[ !#-~]*"', String.Double),
            ('%\\w+', Name.Variable),
            ('@\\w+', Name.Label),
            ('\\b_\\b', Name.Variable),
            ('\\b(?:bf16|bool|f16|f32|f64|f8e4m3|f8e5m2|i16|i32|i64|i8|u16|u32|u64|u8)(?:x\\d+)?\\b', Keyword.Type),
            ('\\b[A-Za-z_]\\w*(?=[ \\t]*=(?!=))', Name.Attribute),
            ('\\b[A-Za-z_]\\w*(?=\\[)', Keyword.Type),
            ('(?<=\\bschedule )[a-z]\\w*', Name.Class),
            ('\\b(?:abs|acos|acosh|add|all|all_gather|all_reduce|all_to_all|amax|amin|any|argmax|argmin|'
             'argsort|asin|asinh|atan|atan2|atanh|batch_norm|bitcast|bitwise_and|bitwise_not|bitwise_or|'
             'bitwise_xor|broadcast|cast|cat|cbrt|ceil|celu|clamp|copysign|cos|cosh|cross_entropy|'
             'cummax|cummin|cumprod|cumsum|digamma|div|dropout|einsum|elu|embedding|eq|erf|erfc|erfinv|'
             'exp|exp2|expand|expm1|eye|flip|floor|floor_divide|fma|fmax|fmin|fmod|frac|full|gather|'
             'gather_block|gather_range|ge|gelu|gelu_erf|gelu_tanh|group_norm|gt|hardshrink|hardsigmoid|'
             'hardswish|hardtanh|hypot|index_select|iota|isfinite|isinf|isnan|layer_norm|le|leaky_relu|'
             'lerp|lgamma|linear|local_slice|log|log10|log1p|log2|log_sigmoid|log_softmax|logaddexp|'
             'logcumsumexp|logical_and|logical_not|logical_or|logical_xor|logsumexp|lt|matmul|max|'
             'max_with_argmax|mean|min|min_with_argmin|mish|mse|mul|ne|neg|norm|normal|one_hot|pad|'
             'permute|pow|prod|reciprocal|reduce_scatter|relu|relu6|remainder|repeat|reshape|reshard|'
             'rms_norm|roll|rope|round|rsqrt|scaled_dot_product_attention|scatter|selu|set|shift_left|'
             'shift_right|sigmoid|sign|signbit|silu|sin|sinh|size|slice|slice_at|slice_update|softmax|'
             'softplus|softshrink|softsign|sort|split|sqrt|square|squeeze|stack|std|sub|sum|swiglu|'
             'take_along|tan|tanh|tanhshrink|topk|tril|triu|trunc|uniform|unsqueeze|var|var_mean|where|'
             'xlog1py|xlogy)(?=[ \\t]*\\()', Name.Builtin),
            ('\\b(?:ceildiv|chunk|chunk_start|floordiv|max|min|mod|select)(?=[ \\t]*\\()', Name.Function),
            ('(?:(?<=\\bloops)|(?<=\\bloops ))\\(', Punctuation, 'loops'),
            ('(?:(?<=\\bpartial)|(?<=\\bpartial ))\\(', Punctuation, 'partial'),
            ('\\b(?:false|inf|nan|null|true)\\b', Keyword.Constant),
            ('\\b(?:accumulate|all_gather|all_reduce|all_to_all|alloc|assign|atomic|await|bind|commit|'
             'convert|coordinate|copy|copy_async|fold|for|gather_block|gather_range|half|if|last_block|'
             'launch|library|literal|load|load_matrix|load_of_block|merge|mma|prefix|random|record|'
             'reduce_scatter|round|running|shuffle|start|store|sync|transpose|variable|wait)\\b', Keyword.Reserved),
            ('\\b(?:aligned|argument|block|block_x|block_y|block_z|cluster|clusters|comm|compute|'
             'contiguous|counter|cpu|cpu_thread|cuda|lanes|lanewise|read|replace|reversed|serial|shared|'
             'splat|stack|stream|thread_x|thread_y|thread_z|threads|threads_y|unroll|update|vectorize|'
             'warp|workspace|write)\\b', Name.Constant),
            ('\\b(?:active|aliases|allocation|at|bandwidth|below|beside|buffers|by|contraction|counters|'
             'from|fusion|given|granule|in|inline|integers|joins|keep|kernel|latency|let|linear|local|'
             'loops|matmul|mesh|narrow|of|on|over|param|partial|phase|phases|program|schedule|segment|'
             'stages|status|stored|strided|strides|taken|target|to|transposed|turned|using|with|'
             'workspaces)\\b', Keyword),
            ('\\b(?:and|not|or)\\b', Operator.Word),
            ('\\b\\d+(?:\\.(?!\\.)\\d*)?(?:[eE][-+]?\\d+)?\\b|\\.\\d+(?:[eE][-+]?\\d+)?\\b', Number),
            ('\\b[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*', Name),
            ('\\{(?=[ \\t]*(?:\\d+[ \\t]*:|\\}))', Punctuation, 'layout'),
            ('\\[', Punctuation, 'extents'),
            ('\\.\\.|->|[<>!=]=|[-+*<>=.]', Operator),
            ('[(){}:,;\\]]', Punctuation),
        ],
        'layout': [
            (r'\s+', Whitespace),
            ('\\}', Punctuation, '#pop'),
            ('# (?:RUN:|EXPECT\\b).*', Comment.Special),
            ('#.*', Comment.Single),
            ('\\b\\d+(?:\\.(?!\\.)\\d*)?(?:[eE][-+]?\\d+)?\\b|\\.\\d+(?:[eE][-+]?\\d+)?\\b', Number),
            ('\\b(?:granule|local)\\b', Keyword),
            ('\\b[A-Za-z_]\\w*', Name.Namespace),
            ('[:,\\[\\]]', Punctuation),
        ],
        'extents': [
            (r'\s+', Whitespace),
            ('\\]', Punctuation, '#pop'),
            ('# (?:RUN:|EXPECT\\b).*', Comment.Special),
            ('#.*', Comment.Single),
            ('%\\w+', Name.Variable),
            ('\\b(?:ceildiv|chunk|chunk_start|floordiv|max|min|mod|select)(?=[ \\t]*\\()', Name.Function),
            ('\\b(?:and|not|or)\\b', Operator.Word),
            ('\\b(?:false|inf|nan|null|true)\\b', Keyword.Constant),
            ('\\b\\d+(?:\\.(?!\\.)\\d*)?(?:[eE][-+]?\\d+)?\\b|\\.\\d+(?:[eE][-+]?\\d+)?\\b', Number),
            ('\\b[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*', Name),
            ('\\[', Punctuation, 'extents'),
            ('\\.\\.|->|[<>!=]=|[-+*<>=.]', Operator),
            ('[(),:]', Punctuation),
        ],
        'loops': [
            (r'\s+', Whitespace),
            ('\\)', Punctuation, '#pop'),
            ('# (?:RUN:|EXPECT\\b).*', Comment.Special),
            ('#.*', Comment.Single),
            ('\\b(?:merge|parallel|reorder|split)(?=[ \\t]*\\()', Name.Decorator),
            ('\\b(?:ceildiv|chunk|chunk_start|floordiv|max|min|mod|select)(?=[ \\t]*\\()', Name.Function),
            ('\\b(?:aligned|argument|block|block_x|block_y|block_z|cluster|clusters|comm|compute|'
             'contiguous|counter|cpu|cpu_thread|cuda|lanes|lanewise|read|replace|reversed|serial|shared|'
             'splat|stack|stream|thread_x|thread_y|thread_z|threads|threads_y|unroll|update|vectorize|'
             'warp|workspace|write)\\b', Name.Constant),
            ('\\b\\d+(?:\\.(?!\\.)\\d*)?(?:[eE][-+]?\\d+)?\\b|\\.\\d+(?:[eE][-+]?\\d+)?\\b', Number),
            ('\\b[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*', Name),
            ('\\.\\.|->|[<>!=]=|[-+*<>=.]', Operator),
            ('\\(', Punctuation, 'loops'),
            (',', Punctuation),
        ],
        'partial': [
            (r'\s+', Whitespace),
            ('\\)', Punctuation, '#pop'),
            ('# (?:RUN:|EXPECT\\b).*', Comment.Special),
            ('#.*', Comment.Single),
            ('(?<=: )[a-z]\\w*', Name.Constant),
            ('\\b[A-Za-z_]\\w*', Name.Namespace),
            ('[:,]', Punctuation),
        ],
    }
