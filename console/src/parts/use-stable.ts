import { useEffect, useRef, useState } from "react";

type Functions = Readonly<Record<string, (...values: never[]) => unknown>>;

/**
 * The same functions as long as a part is shown, which call the newest ones: what gets them is not drawn
 * again because of them. The names must stay the same.
 */
export function useStable<T extends Functions>(functions: T): T {
  const newest = useRef(functions);
  useEffect(() => {
    newest.current = functions;
  });
  const [stable] = useState(
    () =>
      Object.fromEntries(
        Object.keys(functions).map((name) => [
          name,
          (...values: never[]) => newest.current[name]!(...values),
        ]),
      ) as T,
  );
  return stable;
}
