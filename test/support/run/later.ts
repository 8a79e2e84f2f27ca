/** Values that a test file refers to while it is collected and that exist only after its hooks have run. */

export interface Later<T extends object> {
  /** A proxy for the value that was set; it throws if none is set yet. */
  readonly value: T;
  set(value: T): void;
}

export function laterOf<T extends object>(what: string): Later<T> {
  let target: T | undefined;
  const ready = (): T => {
    if (target === undefined) throw new Error(`${what} is there once the file's first hook has run.`);
    return target;
  };
  const value = new Proxy({} as T, {
    get: (_target, name) => Reflect.get(ready(), name),
    set: (_target, name, next) => Reflect.set(ready(), name, next),
  });
  return {
    value,
    set(given) {
      target = given;
    },
  };
}
