type Expected = boolean | 'error';

/**
 * What OpenFGA v1.18.1 answers: the parameter, the expression, and the answer to each of its values. The long suite asks
 * a real server for the same answers.
 */
export const ANSWERS: readonly (readonly [
  parameter: string,
  expression: string,
  answers: readonly (readonly [value: unknown, expected: Expected])[],
])[] = [
  [
    'x: int',
    'x < 10',
    [
      ['9223372036854775808', false],
      ['-9223372036854775809', true],
      [1e20, false],
      ['1e400', false],
      ['1.0', true],
      ['2p2', true],
      ['1.00000000000000000000001', true],
      ['1.5', 'error'],
      ['', 'error'],
      ['0x1', 'error'],
      ['1_0', 'error'],
      ['Inf', 'error'],
      [null, 'error'],
    ],
  ],
  [
    'x: int',
    '-x < 0',
    [
      [1, true],
      ['-9223372036854775808', 'error'],
    ],
  ],
  [
    'x: int',
    'x + 9223372036854775807 > 0',
    [
      [0, true],
      [1, 'error'],
    ],
  ],
  [
    'x: int',
    'x / -1 != 0 && x % -1 == 0',
    [
      [5, true],
      ['-9223372036854775808', 'error'],
    ],
  ],
  ['x: int', '1 / x == 1 || true', [[0, true]]],
  ['x: int', '1 / x == 1 && true', [[0, 'error']]],
  [
    'x: int',
    'dyn(x) in [1.0, 2.0] || dyn(x) == 3.0',
    [
      [1, true],
      [3, true],
      [4, false],
    ],
  ],
  [
    'u: uint',
    'u > 10u',
    [
      ['18446744073709551616', true],
      ['-1', 'error'],
      [-1, 'error'],
      [1.5, 'error'],
    ],
  ],
  ['u: uint', 'u - 1u > 0u', [[0, 'error']]],
  [
    'd: double',
    'd > 1.0',
    [
      ['1.7976931348623157e+309', 'error'],
      [Number.POSITIVE_INFINITY, 'error'],
      ['Inf', true],
      ['0.1', 'error'],
      ['1.5', true],
      ['NaN', 'error'],
      ['1.5e', 'error'],
    ],
  ],
  ['d: double', 'd / d < 1.0 || d / d >= 1.0', [[0, 'error']]],
  [
    'd: double',
    'd / d == d / d',
    [
      [0, false],
      [1, true],
    ],
  ],
  [
    'd: double',
    'int(d) > 0',
    [
      [1.9, true],
      [1e20, 'error'],
      [2 ** 63, 'error'],
    ],
  ],
  ['d: double', 'string(d) == "1e+20"', [[1e20, true]]],
  [
    's: string',
    's < "\uffff"',
    [
      ['\u{1f600}', false],
      ['\ufffe', true],
    ],
  ],
  ['s: string', 's.size() == 1', [['\u{1f600}', true]]],
  [
    's: string',
    's != ""',
    [
      ['a\tb', 'error'],
      ['\u0000', 'error'],
      ['\u007f', 'error'],
      ['\u0085', 'error'],
      ['\u00a0', true],
      ['\ud800', 'error'],
    ],
  ],
  [
    's: string',
    'int(s) == 0',
    [
      ['', 'error'],
      ['0', true],
      ['+0', true],
      [' 0', 'error'],
      ['9223372036854775808', 'error'],
    ],
  ],
  [
    's: string',
    'bool(s)',
    [
      ['T', true],
      ['yes', 'error'],
    ],
  ],
  ['s: string', 's.matches("(?i)^ABC$")', [['abc', true]]],
  ['s: string', 's.matches("^(?P<x>a)b")', [['abc', true]]],
  [
    's: string',
    's.matches(r"^\\pL+$")',
    [
      ['ä', true],
      ['1', false],
    ],
  ],
  ['s: string', 's.matches("^[[:alpha:]]+$")', [['abc', true]]],
  [
    's: string',
    's.matches(r"\\Aabc\\z")',
    [
      ['abc', true],
      ['abcd', false],
    ],
  ],
  [
    's: string',
    '"abc".matches(s)',
    [
      ['b', true],
      ['(', 'error'],
      ['a(?=b)', 'error'],
    ],
  ],
  [
    't: timestamp',
    't == timestamp("2024-01-01T00:00:00.123Z")',
    [
      ['2024-01-01T00:00:00.123Z', true],
      ['2024-01-01T00:00:00.123456789Z', false],
      ['2024-01-01T00:00:00,123Z', true],
      ['2024-01-01T0:00:00.123Z', true],
      ['2024-01-02T00:00:00.123+24:00', true],
      ['2024-01-01T00:00:00.123+25:00', 'error'],
      ['2023-02-29T00:00:00Z', 'error'],
      ['2023-02-30T00:00:00Z', 'error'],
      ['2024-01-01T24:00:00Z', 'error'],
      ['2024-01-01T00:00:60Z', 'error'],
      ['2024-01-01', 'error'],
      ['2024-01-01 00:00:00Z', 'error'],
    ],
  ],
  [
    't: timestamp',
    't + duration("1ns") > timestamp("2024-01-01T00:00:00Z")',
    [
      ['2024-01-01T00:00:00Z', true],
      ['2023-12-31T23:59:59.999999999Z', false],
      ['9999-12-31T23:59:59.999999999Z', 'error'],
    ],
  ],
  [
    't: timestamp',
    't - timestamp("2024-01-01T00:00:00Z") < duration("1h")',
    [
      ['2024-01-01T00:59:59.999999999Z', true],
      ['9999-01-01T00:00:00Z', 'error'],
    ],
  ],
  [
    't: timestamp',
    't.getHours("Europe/Berlin") == 1 && t.getHours("-05:00") == 19',
    [
      ['2024-01-01T00:00:00Z', true],
      ['2024-07-01T00:00:00Z', false],
    ],
  ],
  ['t: timestamp', 't.getHours("europe/berlin") == 1', [['2024-01-01T00:00:00Z', 'error']]],
  ['t: timestamp', 'string(t) == "2024-01-01T02:00:00+02:00"', [['2024-01-01T02:00:00+02:00', true]]],
  [
    'd: duration',
    'd == duration("1us")',
    [
      ['1\u00b5s', true],
      ['1\u03bcs', true],
      ['1000ns', true],
      ['0.000001s', true],
      ['0', false],
      ['1', 'error'],
      ['1d', 'error'],
      ['', 'error'],
      ['9223372036854775808ns', 'error'],
      ['-9223372036854775808ns', false],
    ],
  ],
  [
    'd: duration',
    'd + d > duration("1h")',
    [
      ['1h', true],
      ['2562047h', 'error'],
    ],
  ],
  [
    'ip: ipaddress',
    'ip.in_cidr("192.168.0.0/24")',
    [
      ['192.168.0.1', true],
      ['::ffff:192.168.0.1', true],
      ['::ffff:c0a8:1', true],
      ['192.168.0.01', 'error'],
      ['1.2.3.4::', 'error'],
    ],
  ],
  [
    'ip: ipaddress',
    'ip.in_cidr("::/0")',
    [
      ['::ffff:192.168.0.1', false],
      ['::1', true],
      ['fe80::1%eth0', false],
    ],
  ],
  ['ip: ipaddress', 'ip.in_cidr("::ffff:192.168.0.0/120")', [['192.168.0.1', true]]],
  [
    'ip: ipaddress',
    'ip == ipaddress("10.0.0.1")',
    [
      ['::ffff:10.0.0.1', true],
      ['::ffff:10.0.0.1%eth0', true],
      ['10.0.0.1%eth0', 'error'],
    ],
  ],
  [
    'a: any',
    'a < 10',
    [
      [9.5, true],
      ['a', 'error'],
      [null, 'error'],
    ],
  ],
  [
    'a: any',
    'a == 1',
    [
      [1, true],
      ['1', false],
      [null, false],
    ],
  ],
  [
    'a: any',
    'has(a.k) && a.k == null',
    [
      [{ k: null }, true],
      [{ k: 1 }, false],
      [{}, false],
      ['k', false],
    ],
  ],
  ['a: any', 'a.k == 1 || true', [[{}, true]]],
  [
    'a: any',
    '{a: 1}[a] == 1',
    [
      [1, true],
      ['a', true],
      [true, true],
      [null, 'error'],
      [[1], 'error'],
      [{ k: 1 }, 'error'],
    ],
  ],
  [
    'a: any',
    'a in {a: 1}',
    [
      [1, true],
      [null, true],
      [[1], false],
      [{ k: 1 }, false],
    ],
  ],
  [
    'a: any',
    '{a: 1, a: 2}.size() == 1',
    [
      [1, true],
      [null, true],
      [[1], false],
    ],
  ],
  [
    'a: any',
    '{a: 1} == {a: 1}',
    [
      ['a', true],
      [null, true],
      [[1], false],
    ],
  ],
  [
    'l: list<int>',
    'l.exists(n, 1 / n == 1)',
    [
      [[0, 1], true],
      [[0, 2], 'error'],
    ],
  ],
  [
    'l: list<int>',
    '-1 in l',
    [
      [Array(98).fill(0), false],
      [Array(100).fill(0), 'error'],
    ],
  ],
  [
    'l: list<int>',
    'l.all(n, n >= 0)',
    [
      [Array(19).fill(0), true],
      [Array(20).fill(0), 'error'],
      [Array(20).fill(0).concat(-1), 'error'],
    ],
  ],
  [
    's: string',
    's.matches("^(a+)+$")',
    [
      ['a'.repeat(300), true],
      [`${'a'.repeat(300)}!`, false],
      ['a'.repeat(1000), 'error'],
    ],
  ],
];
