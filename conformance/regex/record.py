# Records what Python's `re` finds, as the data of this folder.
#   python3.11 conformance/regex/record.py
import json, random, re, sys, warnings
from pathlib import Path

warnings.simplefilter('ignore')
FOLDER = Path(__file__).parent

def outcome(pattern, texts, flags=0):
    case = {'pattern': pattern}
    if flags: case['dotAll'] = True
    try:
        compiled = re.compile(pattern, flags)
    except (re.error, OverflowError, ValueError, RecursionError):
        return case | {'isRefused': True}
    case['texts'] = [
        [text, bool(compiled.match(text)), [list(found.span()) for found in compiled.finditer(text)]] for text in texts
    ]
    return case

def write(name, title, cases):
    head = {'title': title, 'python': sys.version.split()[0]}
    lines = ',\n'.join('    ' + json.dumps(case) for case in cases)
    body = json.dumps(head)[1:-1].replace(', "', ',\n  "')
    (FOLDER / f'{name}.json').write_text(f'{{\n  {body},\n  "cases": [\n{lines}\n  ]\n}}\n')

# Random patterns and texts.

ATOMS = ['a', 'b', 'c', 'A', '.', '\\w', '\\d', '\\s', '\\W', '[ab]', '[^a]', '[a-c]', '[^\\W_]', '\\n', '1', ' ', '-',
         '[\\D]', 'é', '😀', '[é-😀]', 'K', 's', '\\x61', '[\\s\\d]', 'ab', 'ba', 'abc']
PLACES = ['^', '$', '\\b', '\\B', '\\A', '\\Z']
COUNTS = ['*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{,2}', '{2,}', '{0,3}?', '{2,3}', '{0}']
HEADS = ['', '', '', '(?i)', '(?m)', '(?s)', '(?a)', '(?im)', '(?x)', '(?ai)']
LETTERS = 'aaabbbcA1 -\néK😀_\u212as\u017f'

def random_text():
    return ''.join(random.choice(LETTERS) for _ in range(random.choice([0, 1, 2, 3, 5, 8, 12])))

def random_pattern(mode):
    state = {'open': [], 'closed': 0, 'count': 0}
    def item(depth):
        r = random.random()
        if r < 0.5 or depth > 3: s = random.choice(ATOMS)
        elif r < 0.6: return random.choice(PLACES)
        elif mode == 'budgeted' and r < 0.75:
            k = random.random()
            if k < 0.3 and state['closed']: return '\\%d(?:)' % random.randint(1, state['closed'])
            if k < 0.7: return random.choice(['(?=', '(?!']) + branches(depth + 1) + ')'
            if k < 0.85: return random.choice(['(?<=', '(?<!']) + random.choice(['a', 'ab', '[ab]', 'a|b', '\\b', '^', '.', 'é.', '😀']) + ')'
            if k < 0.95: s = '(?>' + branches(depth + 1) + ')'
            elif state['closed']: return '(?(%d)%s|%s)' % (random.randint(1, state['closed']), seq(depth + 1), seq(depth + 1))
            else: s = 'a'
        else:
            k = random.random()
            if k < 0.4:
                state['count'] += 1; mine = state['count']
                s = '(' + branches(depth + 1) + ')'
                if mine == state['closed'] + 1: state['closed'] = mine
            elif k < 0.9: s = '(?:' + branches(depth + 1) + ')'
            else: s = random.choice(['(?i:', '(?s:', '(?-i:', '(?m:', '(?a:']) + branches(depth + 1) + ')'
        if random.random() < 0.35:
            s += random.choice(COUNTS)
            if mode == 'budgeted' and random.random() < 0.1 and s[-1] not in '?+': s += '+'
        return s
    def seq(depth): return ''.join(item(depth) for _ in range(random.choice([0, 1, 1, 2, 2, 3])))
    def branches(depth): return '|'.join(seq(depth) for _ in range(random.choice([1, 1, 1, 2, 3])))
    return random.choice(HEADS) + branches(0)


# What a corner of the syntax means, with texts that tell it from its neighbours.

SYNTAX = [
    ('a|b|', ['', 'ab', 'c']), ('', ['', 'ab']), ('()', ['ab']), ('a{', ['a{', 'a']), ('a{}', ['a{}']),
    ('a{,}', ['aaa', '']), ('a{,2}', ['aaa', '']), ('a{2', ['a{2']), ('a{2,1', ['a{2,1']), ('a{ 2}', ['a{ 2}', 'aa']),
    ('a{2}{', ['aa{']), ('x*{', ['xx{']), ('{', ['{']), ('a{0}', ['a', '']), ('a{0,0}b', ['ab']),
    ('(?:a{2}){2}', ['aaaaa']), ('a(?#comment)b', ['ab']), ('a(?#x)*', ['aaa']), ('(?#a\\))bc', ['bc', 'c']),
    ('(?P<n>a)(?P<m>b)', ['ab']), ('(?P<ñ>a)', ['a']), ('\\(\\)\\[\\]\\{\\}', ['()[]{}']),
    ('\\.\\-\\ \\!\\"\\é\\_', ['.- !"é_']), ('\\a\\f\\n\\r\\t\\v\\\\', ['\a\f\n\r\t\v\\']),
    ('\\x41\\u0042\\U00000043', ['ABC']), ('\\0', ['\0', '0']), ('\\07', ['\a']), ('\\012', ['\n']), ('\\101', ['A']),
    ('\\377', ['ÿ']), ('\\0101', ['\x081']), ('[\\101-\\103]', ['B']), ('[\\b]', ['\b', 'b']), ('[\\7]', ['\a']),
    ('(?x) a b # c\n d', ['abd', 'a b d']), ('(?x)a\\ b', ['a b', 'ab']), ('(?x)[a b]', [' ', 'a']), ('(?x)a +', ['aaa']),
    ('(?x)a # (', ['a']), ('(?x: a b )c d', ['abc d', 'abcd']), ('(?x)(?-x: a)', [' a', 'a']), ('(?x) (?i) a', ['A']),
    ('(?i)(?s)a.', ['A\n']), ('(?is)a.', ['A\n']), ('(?s:.).', ['\na', '\n\n']), ('(?i:a)b', ['Ab', 'AB']),
    ('(?i)a(?-i:b)c', ['AbC', 'ABC']), ('(?i-s:A.)', ['ab', 'a\n']), ('(?m)^a$', ['b\na\nc']), ('(?m:^)a', ['b\na']),
    ('(?u)\\w', ['é']), ('(?a)\\w', ['é', 'e']), ('(?a:\\w)\\w', ['eé', 'ée']), ('.', ['\n', '\r', '\u2028', '😀']),
    ('[[:alpha:]]', ['a]', ':]', 'b]']), ('[[a]', ['[', 'a']), ('[]]', [']']), ('[]-a]', [']', '^', 'a', '-']), ('[^]]', [']', 'a']),
    ('[a-]', ['-', 'b']), ('[-a]', ['-']), ('[a\\-z]', ['-', 'b']), ('[\\w-]', ['-', 'a']), ('[+--]', [',', '-']), ('[a^]', ['^']),
    ('[a&&b]', ['&']), ('[a||b]', ['|']), ('[a~~b]', ['~']), ('[$.*(]', ['$', '.', '(', 'a']), ('[\\]]', [']']), ('[\\n-\\r]', ['\v']),
    ('[^\\d\\s]', ['a', '1', ' ']), ('[\\D\\d]', ['a', '1']), ('[^\\W]', ['a', '-']), ('[\\W\\d]', ['a', '1', '-']), ('[é-ü]', ['ö', 'o']),
    ('[\U0001f600-\U0001f610]', ['😀', '😐', '\ud83d', '☺']), ('[^a]', ['😀', '\n']), ('😀+', ['😀😀']), ('😀{2}', ['😀😀']),
    ('\ud83d', ['\ud83d', '😀', 'a\ud83d']), ('[\ud800-\udfff]', ['\ud83d', '😀', '\udc00']), ('.', ['\ud83d', '\udc00\ud83d']),
    ('a|ab', ['ab']), ('ab|a', ['ab']), ('(a|ab)(c|bcd)', ['abcd']), ('(?:a|ab)(?:c|bcd)d*', ['abcd', 'acd']),
    ('é', ['e\u0301', 'é']), ('\\\\', ['\\']), ('\\/', ['/']), ('a b', ['a b']), ('#', ['#']), ('a\nb', ['a\nb']), ('~', ['~']),
]
ERRORS = [
    '(', ')', 'a)', '(a', '[', '[a', '[]', '[^]', 'a[', '\\', 'a\\', '*', '+a', '?', '|*', '(*)', '(?:*)', '^*', '$*', '\\b+', '\\A?',
    'a**', 'a+*', 'a?*', 'a*??', 'a{2}{3}', 'a{2}*', 'a*{2}', 'a{2,1}', 'a{4294967295}', 'a{99999999999}', '(?', '(?P', '(?P<', '(?P<n',
    '(?P<>a)', '(?P<1>a)', '(?P<a b>c)', '(?P<n>a)(?P<n>b)', '(?P=n)', '(?P=', '(?Px)', '(?<n>a)', '(?<', '(?y)', '(?#', '(?#a', '(?i', '(?-',
    '(?-)', '(?-i)', '(?i-)', '(?i-i:a)', '(?-a:b)', '(?-u:b)', '(?au:b)', '(?au)b', '(?a)(?u)b', '(?L)a', '(?L:a)', '(?z:a)', '(?iz)', 'a(?i)', 'a|(?i)b',
    '((?i)a)', '(?:(?i)a)', ' (?x)a', '\\1', '(a)\\2', '(a\\1)', '(?P<n>a(?P=n))', '\\400', '\\777', '[\\400]', '\\8', '[\\8]', '[\\9]', '\\x', '\\x1',
    '\\xg0', '\\u', '\\u123', '\\U0001', '\\U00110000', '\\UFFFFFFFF', '[\\x]', '[\\u12]', '\\c', '\\e', '\\g', '\\h', '\\k', '\\p', '\\pL', '\\p{L}', '\\Q',
    '\\E', '\\R', '\\X', '\\z', '\\G', '\\K', '\\H', '\\y', '\\i', '[\\z]', '[\\B]', '[\\A]', '[\\Z]', '[z-a]', '[a-\\d]', '[\\d-a]', '[\\w-z]', '\\N', '\\N{', '\\N{}', '\\N{NO SUCH}',
    '(?<=a*)b', '(?<=a|bc)d', '(?<!a+)b', '(?<=a{1,2})b', '(?<=(a)\\1)b', '(?<=(?P<n>a)(?P=n))b', '(?(1)a|b)', '(?(0)a)', '(?(a)b)', '(?(1', '(?(',
    '(a)(?(1)b|c|d)', '(?(-1)a)', '(?()a)', '(a)(?(2)b)', '(?>a', '(?=a', '(?U)a', '(?^a)', '(?|a)', '(?&n)', '(?R)', '(?P>n)', 'a{1}+{2}', 'a++?', 'a*+*', '[a', '[\\', '(?:',
]
CASE_LETTERS = ['k', 'K', '\u212a', 's', 'S', 'ſ', 'i', 'I', 'İ', 'ı', 'µ', 'μ', 'Μ', 'ß', 'ẞ', 'σ', 'ς', 'Σ', 'θ', 'ϑ', 'ϴ', 'Ω', 'ω', 'Ω', 'å', 'Å', 'Å', 'ﬅ', 'ﬆ',
                'ǆ', 'ǅ', 'Ǆ', 'ა', 'Ა', 'Ა', 'ꭰ', 'Ꭰ', '𐐀', '𐐨', 'ι', '\u0345', 'ι', 'ΐ', 'ΐ', 'ё', 'Ё', 'é', 'É', '1', '_', '-']
CASES = [('(?i)' + letter, CASE_LETTERS) for letter in CASE_LETTERS] + [
    (pattern, CASE_LETTERS)
    for pattern in ['(?i)[a-z]', '(?i)[A-Z]', '(?i)[^a-z]', '(?i)[^k]', '(?i)[ks]', '(?i)[\\w]', '(?i)[^\\Wk]', '(?i)\\W', '(?i)[\u00b5-\u03c3]', '(?i)[\u1c80-\u2130]',
                    '(?i)[𐐀-𐐧]', '(?i)[𐐀x]', '(?i)[^𐐀]', '(?ia)[a-z]', '(?ia)k', '(?ia)[^k]', '(?i)(?a:s)', '(?ia:[\\u0130i])', '(?i:[\\U00010428])', '[a-zA-Z]', '(?i)[\\d_]', '(?i)[!-\u212b]']
] + [('(?i)([a-zäöüß]+)', ['STRASSE straße ẞ']), ('(?i)ignore (all )?previous', ['IGNORE ALL PREVIOUS', 'Ignore previous', 'ıgnore previous'])]
PLACE_TEXTS = ['', '\n', 'a', 'a\n', 'a\nb', 'a\n\n', '\na', 'ab a', 'é-e', ' a ', '😀a', '_', '١a', 'a\r\n', 'a\u2028b']
POSITIONS = [(pattern, PLACE_TEXTS) for pattern in [
    '^', '$', '\\A', '\\Z', '\\b', '\\B', '(?m)^', '(?m)$', '(?m)\\A', '(?m)\\Z', '(?a)\\b', '(?a)\\B', 'a$', 'a\\Z', '^a', '(?m)a$', '(?m)^a', 'a$\n', 'a\n$', '$\n', '(?m)$\n^', '(?m)$\n',
    '^$', '(?m)^$', '\\A\\Z', '\\ba', 'a\\b', '\\Ba', 'a\\B', '\\b\\b', '\\b\\B', '(?:^|b)a', '(^a|b)', 'a|$', '$|a', '^|a', '(?:^)*a', '(?:$)+', '(?:\\b)?a', '(?:\\b|a)*', '.$', '.*$', '.*\\Z', '(?s).*$', '[^a]$',
    '(?m:^).', '\\b.\\b', '(?a:\\b)\\b', '(?a:\\b).', '(?s).$', 'b$|a', '\\n$', '(a$)?\\n', '\\w+$', '\\W*\\Z', '(?:a\\b|b)+']]
REPETITION_TEXTS = ['', 'a', 'aa', 'aaa', 'aaaa', 'aab', 'abab', 'ba', 'abc', 'bbb']
REPETITION = [(pattern, REPETITION_TEXTS) for pattern in [
    'a*', 'a+', 'a?', 'a*?', 'a+?', 'a??', 'a{2}', 'a{2,}', 'a{1,2}', 'a{,2}', 'a{2}?', 'a{1,2}?', 'a{2,}?', 'a*b', 'a*?b', '(a*)*', '(a*)+', '(a+)*', '(a*)?', '(a?)*', '(a?)+', '(a??)*', '(a*?)*', '(a*)*?', '(a*)+?b',
    '(|a)*', '(|a)+', '(a|)*', '(|a)*b', '(|a)*?b', '(|a){2,3}', '(|a){2,3}b', '(a|){2}', '(a?){2,3}', '(a?){3}b', '(a|b|)*', '(|ab|a)*', '((a*)*)*', '((|a)*|b)*', '(a|ab|abc)*', '(?:a|ab)*?c', '(a*|b)*', '(b|a*)*', '(a*b*)*',
    '(a*b*)*c', '(?:(?:a?)*?)*', '(?:(?:a|)(?:b|))*', '(?:a{0,2}){0,2}', '(?:a{0,2}?){1,2}', '(?:a{2}){1,}', '(?:aa|a)*b', '(?:a|aa)+$', '(?:){3}a', '(?:){0,5}', '(?:()|a)*', '(?:a*?b)*', '(?:a+?b??)*', 'a*a*a*', '(?:a*){2,}b', '(?:a|b)*?$',
    'a{0}b', '(?:a{0})*b', '(?:^a|b)*', '(?:\\b|a)*b', '(?:$|a)*', '(?:a|\\b|b){2}', '(?:(?:|a){2}|b)*c']]
BUDGETED = [
    ('(?=a)', ['a', 'ba', '']), ('(?=a)ab', ['ab', 'a']), ('a(?=b)', ['ab', 'ac', 'aab']), ('a(?!b)', ['ab', 'ac', 'a']), ('(?!a)', ['a', 'ba']), ('(?!)', ['a']), ('(?=)', ['a']),
    ('(?<=a)b', ['ab', 'b', 'aab']), ('(?<!a)b', ['ab', 'b', 'bb']), ('(?<=^)a', ['aa']), ('(?<=ab|cd)e', ['abe', 'cde', 'ade']), ('(?<=😀)a', ['😀a', 'xa']), ('(?<=.)a', ['😀a', 'a', '\na']), ('(?<=\\b)a', ['a', 'ba']),
    ('(?<=(a))b\\1', ['aba', 'ab']), ('(?<!(a)b)c', ['abc', 'xbc', 'c']), ('(?=(a+))a*b\\1', ['baaabac', 'aba']), ('(?=(a))\\1', ['a']), ('(?!(a))b', ['ab', 'b']), ('(?!(?!a))a', ['a', 'b']), ('(?=a*)(?!aaa)a+', ['aaaa', 'aa']),
    ('(a)\\1', ['aa', 'ab', 'aaa']), ('(a*)\\1', ['aaaa', 'aaa', '']), ('(a|ab)\\1', ['abab', 'aa']), ('(?P<n>.)(?P=n)', ['aa', '😀😀', 'ab']), ('(?i)(a)\\1', ['aA', 'ab']), ('(?i)(k)\\1', ['kK', 'k\u212a', 'K\u212a']), ('(?i)(s)\\1', ['sS', 'sſ']),
    ('(?ia)(é)\\1', ['éÉ', 'éé']), ('(a)?\\1', ['aa', 'a', 'b']), ('(a)|b\\1', ['ba', 'a', 'b']), ('(?:(a)|b)*\\1', ['aba', 'abba', 'b']), ('(?:(a)|(b))*\\1\\2', ['abab', 'baab']), ('((a)|b){2}\\2', ['aba', 'baa', 'bb']), ('(a)(b)\\2\\1', ['abba']),
    ('(?>a*)a', ['aaa']), ('(?>a*)b', ['aab', 'b']), ('(?>a|ab)c', ['abc', 'ac']), ('(?>ab|a)c', ['abc', 'ac']), ('(?>(a+))\\1', ['aaaa']), ('(?>a??)a', ['aa']), ('(?>a*?)b', ['ab', 'b']), ('(?:(?>a)|b)*', ['abab']), ('(?>(?:a|b)*)b', ['abab']), ('(?>)', ['a']),
    ('a*+a', ['aaa']), ('a*+b', ['aab']), ('a++b', ['aab', 'b']), ('a?+a', ['a', 'aa']), ('a{1,2}+a', ['aa', 'aaa']), ('(?:ab)++', ['ababa']), ('(?:a|ab)*+c', ['abc', 'aac']), ('(a?)++', ['aa']), ('.*+', ['ab\nc']), ('(?:a*)*+b', ['aab', 'aa']),
    ('(a)?(?(1)b|c)', ['ab', 'c', 'a', 'bc']), ('(?P<n>a)?(?(n)b)', ['ab', 'b', 'a']), ('(a)?b(?(1)c)', ['abc', 'b', 'ab']), ('(?(1)a|b)(c)', ['bc', 'ac']), ('(<)?x(?(1)>)', ['<x>', 'x', '<x', 'x>']), ('(?:(a)|b)(?(1)c|d)', ['ac', 'bd', 'ad', 'bc']),
    ('(?:(a)?(?(1)b|c))+', ['abcab', 'acb']), ('\\b(\\w+) \\1\\b', ['the the', 'the then', 'a a a']), ('(["\']).*?\\1', ['"a\'b" \'c\'', '"a']), ('(?<!\\w)secret(?!\\w)', ['secret', 'a secret.', 'secrets']), ('^(?=.*\\d)(?=.*[a-z]).{4,}$', ['abc1', 'abcd', '1a', 'ab12\n']),
    ('(?m)^(?!#).+$', ['#a\nb\n#c\nd']), ('(?s)(?<=<b>).*?(?=</b>)', ['<b>x</b><b>y\n</b>']), ('(?<=\\d{3})\\d', ['123456']), ('(?<![a-z]{2})x', ['abx', 'ax', 'x']), ('(?<=(?=ab)a)b', ['ab']), ('(?<=a(?=b))b', ['ab']), ('(?=ab)(?=a)', ['ab']), ('(?:(?=a)a|b)*', ['abab']),
    ('(?=a){2}a', ['a']), ('(?=a)*b', ['b', 'ab']), ('(?!a)+b', ['b']), ('(?<=a){0,2}b', ['ab', 'b']), ('((?=(a)))*\\2a', ['aa', 'a']), ('(a*)*\\1b', ['aab', 'b']), ('(?:(a)|)+\\1', ['aa', 'a']), ('(|a)+\\1', ['aa']), ('(a|b)*?\\1', ['abb', 'aa']),
]

def random_cases(mode, count):
    found = []
    while len(found) < count:
        pattern = random_pattern(mode)
        if len(pattern) <= 40:
            found.append(outcome(pattern, [random_text() for _ in range(4)], random.choice([0, 0, re.S])))
    return found

def picked(cases):
    return [outcome(pattern, texts) for pattern, texts in cases]

write('syntax', 'what the characters of a pattern stand for', picked(SYNTAX))
write('errors', 'what is no pattern', [outcome(pattern, []) for pattern in ERRORS])
write('case', 'letters when case is ignored', picked(CASES))
write('positions', 'places: starts, ends, boundaries of words', picked(POSITIONS))
write('repetition', 'which of several matches is found, rounds that consume nothing, matches that are empty', picked(REPETITION))
write('budgeted', 'look-around, back-references, atomic groups, possessive repetitions, conditional groups', picked(BUDGETED))
random.seed(20)
write('random-linear', 'random patterns', random_cases('linear', 500))
write('random-budgeted', 'random patterns with look-around and the like', random_cases('budgeted', 500))
