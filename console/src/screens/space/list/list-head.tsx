import { VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../../../messages/messages.ts";
import { useFormats } from "../../../messages/formats.ts";
import { messages as bulkMessages } from "../actions/messages.ts";
import { messages } from "../messages.ts";
import { TITLES } from "./columns.ts";
import styles from "./list.module.css";
import { nextOrder } from "./question.ts";
import type { RowLook } from "./row-look.ts";
import type { ListState } from "./use-list.ts";

interface Props {
  readonly look: RowLook;
  readonly list: ListState;
  readonly order: string;
  readonly onOrder: (order: string) => void;
}

/** The words above the columns, by which the list is ordered too. */
export function ListHead({ look, list, order, onOrder }: Props): ReactNode {
  const texts = useMessages(messages).list;
  const bulk = useMessages(bulkMessages);
  const formats = useFormats();
  const isAll = list.selection.kind === "all" && list.total > 0;
  return (
    <div role="rowgroup" className={styles["head"]}>
      <div
        role="row"
        aria-rowindex={1}
        className={styles["line"]}
        style={{ gridTemplateColumns: look.tracks }}
      >
        {look.canSelect && (
          <div role="columnheader">
            <input
              type="checkbox"
              tabIndex={-1}
              className={styles["pick"]}
              aria-label={bulk.all(formats.number(list.total))}
              checked={isAll}
              onChange={isAll ? list.clear : list.selectAll}
            />
          </div>
        )}
        {look.columns.map((id) => {
          const title = texts[TITLES[id]!];
          const isHere = order.replace(/^-/u, "") === id;
          const direction = order.startsWith("-") ? "descending" : "ascending";
          return (
            <div key={id} role="columnheader" aria-sort={isHere ? direction : "none"}>
              <button
                type="button"
                className={styles["sort"]}
                onClick={() => onOrder(nextOrder(id, order))}
                title={texts.sortBy(title)}
              >
                {title} {isHere && <span aria-hidden>{order.startsWith("-") ? "↓" : "↑"}</span>}
              </button>
            </div>
          );
        })}
        <div role="columnheader">
          <VisuallyHidden>{texts.menuColumn}</VisuallyHidden>
        </div>
      </div>
    </div>
  );
}
