import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PythonOptions, pythonCode } from '../../src/code/python/python.ts';

function found(code: string, options?: PythonOptions): readonly string[] {
  return pythonCode(code, options).constructs.map(
    ({ kind, start, end }) => `${kind} ${code.slice(start, end)}`,
  );
}

test('imports are the names of modules, and None for a package’s own folder', () => {
  const { imports } = pythonCode(
    'import os.path as p, sys\nfrom . import a\nfrom ..x.y import b\nfrom z import *\n',
  );
  assert.deepEqual(imports, ['os.path', 'sys', null, 'x.y', 'z']);
});

test('names of built-in functions are listed in the order of the text, also under another alphabet', () => {
  assert.deepEqual(pythonCode('print(len(x))\n𝐞𝐯𝐚𝐥(y)\nfoo()').builtins, ['print', 'len', 'eval']);
});

test('call targets are listed as they are written and by their full names', () => {
  const { functionCalls } = pythonCode(
    "import os as o\nfrom os import popen as p\no.system('a')\np('b')\nf(1)(2)",
  );
  assert.deepEqual(functionCalls, ['f', 'f(1)', 'o.system', 'os.popen', 'os.system', 'p'].sort());
});

test('call targets are written as Python writes them', () => {
  const { functionCalls } = pythonCode('getattr( os,"sys"+"tem" )(1)\n(a) . b(2)\n"x".join(y)\nf(a=1)()');
  assert.deepEqual(
    functionCalls.filter((name) => !/^(?:getattr|f|os\.system)$/.test(name)),
    ["'x'.join", 'a.b', 'f(a=1)', "getattr(os, 'sys' + 'tem')"],
  );
});

const FORMS_THAT_THE_GRAMMAR_LACKS = [
  'f = lambda a, /, b=1, *, c: b',
  'x = 1. + 2.',
  'def f():\n    x = yield\n    return (yield)',
  'with (open(x) as f, open(y) as g):\n    pass',
  'with (\n    open(x) as f,\n    open(y) as g,\n):\n    pass',
  'async def f():\n    async with (a() as b, c()):\n        pass',
  'with pair() as (a, b):\n    pass',
  'with open(x) as self.file:\n    pass',
  'match x, y:\n    case 1, 2:\n        pass',
  'match x:\n    case Point() | None:\n        pass\n    case [A(), B() as b] if b:\n        pass',
  'match x:\n    case {"k": str() | int() as v}:\n        pass',
  '@table[0].clicked\ndef f(): pass',
  '@(lambda f: f)\nclass A: pass',
];
for (const code of FORMS_THAT_THE_GRAMMAR_LACKS)
  test(`is parsed, and what follows is seen at its place: ${JSON.stringify(code)}`, () => {
    assert.deepEqual(found(`import os\n${code}\nos.system(x)\n`), ['PROCESS os.system']);
  });

for (const [code, expected] of [
  [
    'with (os.popen(x) as p, __import__("os") as o):\n    o.system(y)',
    ['PROCESS os.popen', 'DYNAMIC_IMPORT __import__', 'PROCESS o.system'],
  ],
  ['@(eval)\ndef f(): pass', ['DYNAMIC_CODE eval']],
  ['match x, eval(y):\n    case 1, 2:\n        pass', ['DYNAMIC_CODE eval']],
  ['match x:\n    case A() | None: os.fork()', ['PROCESS os.fork']],
  ['match x:\n    case {"a:": A() | None} if os.fork():\n        pass', ['PROCESS os.fork']],
  ['x = 2.\ns = """\nwith ( as """ # c\nos.system(y)\nt = """):\n""" # """', ['PROCESS os.system']],
  ['with (open(x) as f\n    os.system(y)', ['UNPARSEABLE as f\n    os.system(y)']],
  ['match x, y\n    case A():\n        pass', ['UNPARSEABLE , y\n    case A():\n        pass']],
  ['@\ndef f(): pass', ['UNPARSEABLE \ndef f(): pass']],
] as const)
  test(`nothing hides in a form that the grammar lacks: ${JSON.stringify(code)}`, () => {
    assert.deepEqual(found(`import os\n${code}`), expected);
  });

for (const [code, expected] of [
  ['import os\nos.system(x)', ['PROCESS os.system']],
  ['import os as o\no.system(x)', ['PROCESS o.system']],
  ['from os import system as s\ns(x)', ['PROCESS s']],
  ['from os import *\nsystem(x)', ['PROCESS system']],
  ['import os\nrun = os.system\nrun(x)', ['PROCESS os.system', 'PROCESS run']],
  [
    'def f():\n    c(x)\nc = b\nb = a\nimport subprocess\na = subprocess.run',
    ['PROCESS c', 'PROCESS b', 'PROCESS a', 'PROCESS subprocess.run'],
  ],
  [
    "getattr(os, 'sys' + 'tem')(x)",
    ["DYNAMIC_ACCESS getattr(os, 'sys' + 'tem')", "PROCESS getattr(os, 'sys' + 'tem')"],
  ],
  ["getattr(os, 'system')(x)", ["PROCESS getattr(os, 'system')"]],
  ['getattr(x, name)', ['DYNAMIC_ACCESS getattr(x, name)']],
  ["__import__('os').system(x)", ['DYNAMIC_IMPORT __import__', "PROCESS __import__('os').system"]],
  [
    "import importlib\nimportlib.import_module('o' + 's').popen(x)",
    ['DYNAMIC_IMPORT importlib.import_module', "PROCESS importlib.import_module('o' + 's').popen"],
  ],
  [
    "globals()['ev' + 'al'](x)",
    [
      'DYNAMIC_ACCESS globals',
      "DYNAMIC_ACCESS globals()['ev' + 'al']",
      "DYNAMIC_CODE globals()['ev' + 'al']",
    ],
  ],
  [
    "os.__dict__['sys' + 'tem'](x)",
    ["DYNAMIC_ACCESS os.__dict__['sys' + 'tem']", "PROCESS os.__dict__['sys' + 'tem']"],
  ],
  [
    "''.join(['e', 'v'])\n__builtins__['lave'[::-1]](x)",
    [
      'INTROSPECTION __builtins__',
      "DYNAMIC_ACCESS __builtins__['lave'[::-1]]",
      "DYNAMIC_CODE __builtins__['lave'[::-1]]",
    ],
  ],
  ['@exec\n@input\nclass X: pass', ['DYNAMIC_CODE exec']],
  ['class X:\n    __getitem__ = exec', ['DYNAMIC_CODE exec']],
  [
    "requests = __import__('requests')\nrequests.get(u)",
    ['DYNAMIC_IMPORT __import__', 'NETWORK requests.get'],
  ],
  ['f(os)', ['DYNAMIC_ACCESS os']],
  ['def f(m):\n    m.system(x)', ['PROCESS m.system']],
  ['().__class__.__base__.__subclasses__()', ['INTROSPECTION __base__', 'INTROSPECTION __subclasses__']],
  ["'{0.__init__.__globals__}'.format(x)", ["INTROSPECTION '{0.__init__.__globals__}'.format"]],
  ['import pickle\npickle.loads(b)', ['DESERIALIZATION pickle.loads']],
  ['import yaml\nyaml.load(t)', ['DESERIALIZATION yaml.load']],
  ['import torch\ntorch.load(p)', ['DESERIALIZATION torch.load']],
  ['import ctypes\nctypes.CDLL(p)', ['NATIVE_CODE ctypes.CDLL']],
  ["open('a.txt', 'w')", ['FILE_WRITE open']],
  ["open('a.txt', mode)", ['FILE_WRITE open']],
  ["from pathlib import Path\np = Path('a') / 'b'\np.unlink()", ['FILE_DELETE p.unlink']],
  ["open('/etc/shadow')", ["SENSITIVE_FILE '/etc/shadow'"]],
  ['import os\nprint(os.environ)', ['ENVIRONMENT os.environ']],
  ["import os\nos.environ['API_KEY']", ['ENVIRONMENT os.environ']],
  ['import requests as r\nr.post(u, data=d)', ['NETWORK r.post']],
  ['import shutil\nshutil.rmtree(d)', ['DESTRUCTIVE shutil.rmtree']],
  [
    'eval(\'__import__("os").system(x)\')',
    ['DYNAMIC_CODE eval', 'DYNAMIC_IMPORT __import__', 'PROCESS __import__("os").system'],
  ],
  ["import os\nos.system('rm -rf /')", ['PROCESS os.system', 'DESTRUCTIVE rm -rf /', 'FILE_DELETE rm -rf /']],
  ['# coding: rot13\nx = 1', ['ENCODED_PAYLOAD # coding: rot13']],
] as const) {
  test(`is dangerous: ${JSON.stringify(code)}`, () => {
    assert.deepEqual(found(code), expected);
  });
}

for (const code of [
  'model.eval()',
  "import re\nre.compile('x').match(y)",
  "print('os.system(x)')  # eval(x)",
  '"""Uses eval and exec, see __import__."""',
  'def compile(rules):\n    return rules\ncompile(r)',
  'def train(model, eval=False):\n    return model if eval else None',
  "getattr(x, 'name', None)",
  "import os\nos.path.join(a, b)\nos.environ['HOME']\nos.getenv('LANG')",
  "with open('a.csv') as f:\n    print(f.read())",
  "open('a.csv', 'rb')",
  'import subprocess\ntry:\n    f()\nexcept subprocess.CalledProcessError:\n    pass',
  'import pickle\npickle.dumps(x)',
  'import yaml\nyaml.safe_load(t)\nyaml.load(t, Loader=yaml.SafeLoader)',
  'import torch\ntorch.load(p, weights_only=True)',
  'self.__class__.__name__',
  'cursor.execute(q)',
  'print(vars(args))',
  'asyncio.run(main())',
  "json.load(f)\n'{:.2f}'.format(x)",
]) {
  test(`is harmless: ${JSON.stringify(code)}`, () => {
    assert.deepEqual(found(code), []);
  });
}

test('a payload that is decoded and run is read, and said to be hidden', () => {
  const payload = Buffer.from('import os\nos.remove("a")').toString('base64');
  const code = `import base64\nexec(base64.b64decode("${payload}").decode())`;
  const { imports, constructs } = pythonCode(code);
  assert.deepEqual(imports, ['base64', 'os']);
  assert.deepEqual(
    constructs.map(({ kind }) => kind),
    ['DYNAMIC_CODE', 'ENCODED_PAYLOAD', 'FILE_DELETE'],
  );
});

for (const code of [
  'def f(:',
  'print "x"',
  'a <> b',
  'f(a=1, 2)',
  '1 = x',
  'except E, e: pass',
  'a\0b',
  'if x:\npass',
  "'",
  '010',
  '!ls',
  'try:\n    f()\n',
  '"a\nb"',
])
  test(`does not parse: ${JSON.stringify(code)}`, () => {
    const { syntaxError, constructs } = pythonCode(code);
    assert.notEqual(syntaxError, null);
    assert.deepEqual(
      constructs.map(({ kind }) => kind),
      ['UNPARSEABLE'],
    );
  });

for (const code of [
  '',
  'x = 1',
  'print("x")',
  'f(*a, b=1, **c)',
  'match x:\n    case 1: pass',
  '\uFEFFx = 1',
  'a = b = 0',
  'f(2., 3.)*2.',
  '"a\\\nb"',
  'def f(a, /, *, b): ...',
])
  test(`parses: ${JSON.stringify(code)}`, () => {
    assert.equal(pythonCode(code).syntaxError, null);
  });

test('code in Markdown is read at its place, and that of other languages is not', () => {
  const text = 'Run this:\n```python\nimport os\nos.remove(p)\n```\nand then\n```bash\nrm x\n```\n';
  assert.deepEqual(found(text), ['FILE_DELETE os.remove']);
  assert.equal(pythonCode(text).syntaxError, null);
});

test('a fence that does not parse is unsafe, and so is prose without one', () => {
  assert.deepEqual(found('So:\n```\nos.remove(\n```\n'), ['UNPARSEABLE \n']);
  assert.notEqual(pythonCode('just some words').syntaxError, null);
});

test('a fence in a text of the code hides nothing', () => {
  assert.deepEqual(found('"""\n```\nx\n```\n"""\nimport os\nos.remove(p)'), ['FILE_DELETE os.remove']);
});

test('a notebook’s commands are code of the shell', () => {
  const cell = 'import os\n!rm -rf data\nx = !ls\n%time os.remove(p)\n%matplotlib inline';
  assert.deepEqual(found(cell, { isNotebook: true }), [
    'DESTRUCTIVE rm -rf data',
    'FILE_DELETE rm -rf data',
    'PROCESS rm -rf data',
    'PROCESS ls',
    'FILE_DELETE os.remove',
  ]);
  assert.notEqual(pythonCode(cell).syntaxError, null);
  assert.deepEqual(found('%%bash\ncurl x | sh', { isNotebook: true }).slice(-1), ['PROCESS curl x | sh']);
});

test('places are those of the text, also in texts that run other code', () => {
  const code = "exec('import os\\nos.remove(1)')";
  assert.deepEqual(found(code).slice(1), ["FILE_DELETE 'import os\\nos.remove(1)'"]);
});
