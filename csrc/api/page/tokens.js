// Words of a line of text, for its colours.

const COMMON_NUMBER = '(?<number>(?<![\\w%@])-?(?:0x[0-9a-fA-F]+|\\d[\\d_]*(?:\\.\\d*)?(?:[eE][+-]?\\d+)?)[uUlLfF]*)';
const COMMON_STRING = '(?<string>"(?:[^"\\\\]|\\\\.)*"?)';

const LANGUAGES = {
  plait: {
    words: new RegExp('(?<comment>#.*)|' + COMMON_STRING + '|(?<identifier>%[\\w.]+)|(?<reference>@[\\w.]+)|' +
        COMMON_NUMBER + '|(?<word>[A-Za-z_][\\w.]*)', 'g'),
    keywords: new Set(('fusion program segment schedule param mesh on with let given in below aliases stored allocation ' +
        'loops inline keep joins alloc launch library copy record wait fill kernel contraction partial at strides using ' +
        'all_reduce all_gather reduce_scatter all_to_all gather_range').split(' ')),
  },
  kir: {
    words: new RegExp('(?<comment>#.*)|' + COMMON_STRING + '|(?<identifier>%[\\w.]+)|(?<reference>@[\\w.]+)|' +
        COMMON_NUMBER + '|(?<word>[A-Za-z_][\\w.]*)', 'g'),
    keywords: new Set(('kernel for in if else and or not load store assign alloc variable coordinate on given target ' +
        'schedule read write below active contiguous aligned stack shared registers barrier while atomic phase').split(' ')),
  },
  cuda: {
    words: new RegExp('(?<comment>//.*|/\\*.*?\\*/)|(?<directive>^\\s*#.*)|' + COMMON_STRING +
        '|(?<identifier>\\b[vbk]\\d+\\b)|' + COMMON_NUMBER + '|(?<word>[A-Za-z_]\\w*)', 'g'),
    keywords: new Set(('if else for while do return const constexpr template class struct extern inline switch case break ' +
        'continue unsigned int float double long short char bool void auto typename static volatile asm true false ' +
        'reinterpret_cast static_cast __global__ __device__ __shared__ __restrict__ __forceinline__ __launch_bounds__ ' +
        '__align__ __syncthreads').split(' ')),
  },
  llvm: {
    words: new RegExp('(?<comment>;.*)|' + COMMON_STRING + '|(?<identifier>%[\\w.]+)|(?<reference>[@!][\\w.]+)|' +
        COMMON_NUMBER + '|(?<word>[A-Za-z_][\\w.]*)', 'g'),
    keywords: new Set(('define declare ret br label phi load store getelementptr inbounds call add sub mul sdiv udiv srem ' +
        'fadd fsub fmul fdiv fneg icmp fcmp select zext sext trunc bitcast ashr lshr shl and or xor extractelement ' +
        'insertelement shufflevector alloca switch unreachable fptrunc fpext sitofp fptosi to tail nsw nuw exact internal ' +
        'noalias nocapture readonly nounwind alwaysinline').split(' ')),
  },
  ptx: {
    words: new RegExp('(?<comment>//.*)|' + COMMON_STRING + '|(?<identifier>%[\\w.]+)|(?<directive>\\.[A-Za-z_]\\w*)|' +
        COMMON_NUMBER + '|(?<word>[A-Za-z_$][\\w$]*)', 'g'),
    keywords: new Set('mov ld st add mul mad sub fma setp bra ret cvt cvta shl shr and or xor min max bar selp'.split(' ')),
  },
};

const TYPES = new RegExp('^(?:bool(?:x\\d+)?|b?f(?:16|32|64)(?:x\\d+)?|f8e\\w+|[iu](?:1|8|16|32|64)(?:x\\d+)?|ptr|half|' +
    'float[234]?|double|int|unsigned|Vec)$');

// The language of a stage of a kernel by its name.
function languageOf(stage) {
  const name = String(stage).toLowerCase();
  if (name.startsWith('kir') || name.startsWith('kernel')) return 'kir';
  if (name.startsWith('cu')) return 'cuda';
  if (name.startsWith('ll')) return 'llvm';
  if (name.startsWith('ptx') || name.startsWith('sass') || name.startsWith('asm')) return 'ptx';
  return 'plait';
}

// [kind, text] of each part of a line; kind is '' between words.
function tokensOf(language, line) {
  const {words, keywords} = LANGUAGES[language];
  const tokens = [];
  let end = 0;
  words.lastIndex = 0;
  for (let match = words.exec(line); match !== null; match = words.exec(line)) {
    if (match[0] === '') break;
    const kind = tokenKind(match, keywords);
    if (kind === '') continue;
    if (match.index > end) tokens.push(['', line.slice(end, match.index)]);
    tokens.push([kind, match[0]]);
    end = match.index + match[0].length;
  }
  if (end < line.length) tokens.push(['', line.slice(end)]);
  return tokens;
}

function tokenKind(match, keywords) {
  const groups = match.groups;
  if (groups.word !== undefined) {
    if (TYPES.test(groups.word)) return 'type';
    return keywords.has(groups.word) ? 'keyword' : '';
  }
  for (const kind of ['comment', 'string', 'identifier', 'reference', 'number', 'directive']) {
    if (groups[kind] !== undefined) return kind;
  }
  return '';
}

// The line as elements, in its colours.
function colouredLine(language, line) {
  return tokensOf(language, line).map(([kind, text]) => kind === '' ? text :
      make('span', {class: 'word-' + kind}, text));
}

// A text in its colours, for the few lines of a panel.
function colouredText(language, lines) {
  return make('pre', {class: 'code block'}, lines.map((line) => make('div', null, colouredLine(language, line))));
}
