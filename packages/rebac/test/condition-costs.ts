/**
 * Expressions whose cost grows with a list, a text or a map. In the long suite they are evaluated with every size
 * around the limit, because a cost that is one too low would grant what OpenFGA does not.
 */
export const COSTS: readonly (readonly [parameters: string, expression: string])[] = [
  ['l: list<int>', 'l.all(n, true)'],
  ['l: list<int>', 'l.all(n, n >= 0)'],
  ['l: list<int>', 'l.exists(n, n < 0) == false'],
  ['l: list<int>', 'l.exists(n, false) || true'],
  ['l: list<int>', 'l.exists_one(n, n == 0) || true'],
  ['l: list<int>', 'l.exists_one(n, n >= 0) || true'],
  ['l: list<int>', 'l.map(n, n).size() >= 0'],
  ['l: list<int>', 'l.map(n, 1).size() >= 0'],
  ['l: list<int>', 'l.map(n, n > 3, n).size() >= 0'],
  ['l: list<int>', 'l.filter(n, n > 3).size() >= 0'],
  ['l: list<int>', 'l.filter(n, n % 2 == 0).all(n, n >= 0)'],
  ['l: list<int>', 'l.all(n, n in l)'],
  ['l: list<int>', 'l.all(n, n in [0, 1, n])'],
  ['l: list<int>', 'l.all(n, l[n] == n)'],
  ['l: list<int>', 'l.all(n, l[n + 0] == n)'],
  ['l: list<int>', 'l.all(n, n < 5 ? n >= 0 : true)'],
  ['l: list<int>', 'l.all(n, (n < 5 ? l : l)[n] == n)'],
  ['l: list<int>', 'l.all(n, [n, 1].size() == 2)'],
  ['l: list<int>', 'l.all(n, [1, 2].size() == 2)'],
  ['l: list<int>', 'l.all(n, {"a": n}.a == n)'],
  ['l: list<int>', 'l.all(n, {"a": 1}.a == 1)'],
  ['l: list<int>', 'l.all(n, l.exists(m, m == n))'],
  ['l: list<int>', 'l.exists(n, 1 / 0 == n) || true'],
  ['l: list<int>', 'l.all(n, 1 / 0 == n || n >= 0)'],
  ['l: list<int>', 'l == l'],
  ['l: list<int>', 'l + l + l == l || true'],
  ['l: list<int>', '-1 in l || true'],
  ['l: list<int>', '(l + l).size() > 0 && !(-1 in l + l)'],
  ['l: list<int>', 'l.all(n, !(!(n < 0) && false))'],
  ['l: list<int>', 'l.all(n, type(n) == int)'],
  ['l: list<int>', 'l.all(n, int("1") == 1)'],
  ['l: list<int>', 'l.all(n, dyn(n) < 1000)'],
  ['l: list<int>', 'l.all(n, double(n) < 1000.0)'],
  ['s: string', 's == s'],
  ['s: string', 's != "a"'],
  ['s: string', 's < s || true'],
  ['s: string', 'dyn(s) < s || true'],
  ['s: string', 's.startsWith(s)'],
  ['s: string', 's.endsWith("b") || true'],
  ['s: string', 's.contains("a") || true'],
  ['s: string', 's.contains("aaaaaaaaaaab") || true'],
  ['s: string', 's.contains(s)'],
  ['s: string', 's.matches("^a*$") || true'],
  ['s: string', 's.matches("^(a|b|c|d|e)*$") || true'],
  ['s: string', '"aaaa".matches(s) || true'],
  ['s: string', 's + s != s'],
  ['s: string', 'bytes(s).size() >= 0'],
  ['s: string', 'string(bytes(s)) == s'],
  ['s: string', 'size(s) >= 0'],
  ['s: string', 's in ["a", "b"] || true'],
  ['s: string', '[s] == [s]'],
  ['s: string', 'b"a" + bytes(s) != b"b"'],
  ['s: string', 'bytes(s) < b"b" || true'],
  ['m: map<int>', 'm.all(k, m[k] >= 0)'],
  ['m: map<int>', 'm == m'],
  ['m: map<int>', 'm.exists(k, k == "x") || true'],
  ['m: map<int>', 'm.filter(k, m[k] > 3).size() >= 0'],
];

/** Around the limit for each of them, and far beyond. */
export function sizesOf(type: string): readonly number[] {
  const small = Array.from({ length: 102 }, (_, size) => size);
  if (type !== 'string') return [...small, 150, 500, 990, 991, 1000, 1010];
  return [...small, ...Array.from({ length: 150 }, (_, index) => 110 + index * 10 - (index % 3))];
}

/** A value of the given size: a list of the first numbers, a text of one letter, or a map. */
export function valueOfSize(type: string, size: number): unknown {
  if (type === 'string') return 'a'.repeat(size);
  const numbers = Array.from({ length: size }, (_, index) => index);
  return type === 'list<int>' ? numbers : Object.fromEntries(numbers.map((number) => [`k${number}`, number]));
}
