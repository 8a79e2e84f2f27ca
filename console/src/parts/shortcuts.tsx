/** Keys that do something, which the help on `?` lists: of the screen that is shown, and everywhere. */
import { type ReactNode, createContext, useContext, useEffect, useMemo, useRef, useState } from "react";

export interface Shortcut {
  /** A key as `KeyboardEvent.key`, or two that follow each other: `"u"`, `"g s"`, `"mod+k"`. */
  readonly keys: string;
  readonly label: string;
  readonly run: () => void;
  /** Of the whole console, and not of one screen. */
  readonly isGlobal?: boolean;
}

interface Registry {
  readonly list: () => readonly Shortcut[];
  readonly add: (shortcuts: readonly Shortcut[]) => () => void;
}

const ShortcutsContext = createContext<Registry>({ list: () => [], add: () => () => undefined });

/** So soon the second key of two has to follow. */
const SEQUENCE_MS = 1_200;

export function ShortcutsProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [sets] = useState(() => new Set<readonly Shortcut[]>());
  const registry = useMemo<Registry>(
    () => ({
      list: () => [...sets].flat(),
      add(shortcuts) {
        sets.add(shortcuts);
        return () => sets.delete(shortcuts);
      },
    }),
    [sets],
  );
  useEffect(() => listen(registry), [registry]);
  return <ShortcutsContext value={registry}>{children}</ShortcutsContext>;
}

/** Every shortcut that works now; for the help. */
export const useShortcutList = (): (() => readonly Shortcut[]) => useContext(ShortcutsContext).list;

/** The shortcuts of a screen or part, as long as it is shown. Keys typed into fields stay text. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const { add } = useContext(ShortcutsContext);
  const newest = useRef(shortcuts);
  useEffect(() => {
    newest.current = shortcuts;
  });
  const names = shortcuts.map(({ keys, label }) => `${keys} ${label}`).join("\n");
  useEffect(
    () =>
      add(
        newest.current.map((shortcut, index) => ({ ...shortcut, run: () => newest.current[index]?.run() })),
      ),
    [add, names],
  );
}

function listen({ list }: Registry): () => void {
  let first = "";
  let firstAt = 0;
  const hear = (event: KeyboardEvent): void => {
    const isModified = event.ctrlKey || event.metaKey;
    if (event.altKey || event.repeat || event.defaultPrevented || (!isModified && isTyping(event))) return;
    const key = isModified ? `mod+${event.key.toLowerCase()}` : event.key;
    const sequence = event.timeStamp - firstAt < SEQUENCE_MS ? `${first} ${key}` : key;
    first = key;
    firstAt = event.timeStamp;
    const all = list().toReversed();
    const shortcut = all.find(({ keys }) => keys === sequence) ?? all.find(({ keys }) => keys === key);
    if (shortcut === undefined) return;
    first = "";
    event.preventDefault();
    shortcut.run();
  };
  addEventListener("keydown", hear);
  return () => removeEventListener("keydown", hear);
}

/** Whether the key goes into a field, or works a dialog or menu that is open. */
function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable || target.closest("input, textarea, select, [role=dialog], [role=menu]") !== null
  );
}
