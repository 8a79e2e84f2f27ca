/** What all rows of a list share: made once, so that a row is drawn again only when it changes itself. */
import { useMemo, useSyncExternalStore } from "react";
import { type Formats, useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { messages as partMessages } from "../../../parts/messages.ts";
import { messages as bulkMessages } from "../actions/messages.ts";
import { messages } from "../messages.ts";
import type { StateTexts } from "../state/code-texts.ts";
import { messages as stateMessages } from "../state/messages.ts";

type Texts<T extends { readonly en: unknown }> = ReturnType<typeof useMessages<T["en"]>>;

export interface RowLook {
  readonly texts: {
    readonly list: Texts<typeof messages>["list"];
    readonly bulk: Texts<typeof bulkMessages>;
    readonly state: StateTexts;
    readonly status: Texts<typeof partMessages>["status"];
  };
  readonly formats: Formats;
  /** To the minute, in milliseconds: what is said of times is as old. */
  readonly now: number;
  /** The ids of the columns that there is room for. */
  readonly columns: readonly string[];
  /** Their widths, as those of a grid. */
  readonly tracks: string;
  readonly height: number;
  readonly canSelect: boolean;
}

const MINUTE_MS = 60_000;
const tick = (listener: () => void): (() => void) => {
  const timer = setInterval(listener, MINUTE_MS);
  return () => clearInterval(timer);
};
const minute = (): number => Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;

export function useRowLook(columns: readonly string[], tracks: string, height: number, canSelect: boolean) {
  const { list } = useMessages(messages);
  const bulk = useMessages(bulkMessages);
  const state = useMessages(stateMessages);
  const { status } = useMessages(partMessages);
  const formats = useFormats();
  const now = useSyncExternalStore(tick, minute);
  const ids = columns.join(" ");
  return useMemo<RowLook>(
    () => ({
      texts: { list, bulk, state, status },
      formats,
      now,
      columns: ids.split(" "),
      tracks,
      height,
      canSelect,
    }),
    [list, bulk, state, status, formats, now, ids, tracks, height, canSelect],
  );
}
