/** Values within a configuration, by path: the configuration that has another one there. */

/** @typedef {(string | number)[]} Path */

/**
 * The same value but for what stands at the path. `undefined` removes a member of an object; what stands in the way of the path
 * and is neither a list nor an object is replaced.
 * @param {any} value
 * @param {Path} path
 * @param {any} next
 * @returns {any}
 */
export function withValue(value, path, next) {
  if (path.length === 0) return next;
  const [key, ...rest] = path;
  if (Array.isArray(value)) return value.map((item, index) => (index === Number(key) ? withValue(item, rest, next) : item));
  const before = value !== null && typeof value === 'object' ? value : {};
  const inner = withValue(Object.hasOwn(before, key) ? before[key] : undefined, rest, next);
  if (inner === undefined) return Object.fromEntries(Object.entries(before).filter(([name]) => name !== String(key)));
  return {...before, [key]: inner};
}
