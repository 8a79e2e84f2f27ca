import type { Schemas } from "@holdfast/client";
import type { ReactNode } from "react";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import styles from "../list/list.module.css";
import { messages } from "./messages.ts";
import { type Progress, STAGES, stagesOf } from "./stages.ts";

const SIGNS: Readonly<Record<Progress, string>> = { done: "✓", now: "●", todo: "○", failed: "✕" };
const CLASSES: Readonly<Record<Progress, string | undefined>> = {
  done: styles["done"],
  now: styles["now"],
  todo: styles["todo"],
  failed: styles["failed"],
};

/** parse ✓ chunk ● embed ○, and of embedding how much is done. Plain elements, since a list has many. */
export function StageLine({ state }: { readonly state: Schemas["ProcessingState"] }): ReactNode {
  const texts = useMessages(messages).stages;
  const formats = useFormats();
  const stages = stagesOf(state);
  const { chunk_count: chunks, embedded_chunk_count: embedded } = state;
  const share = stages.embed === "now" && chunks && embedded ? formats.percent(embedded / chunks) : null;
  return (
    <span className={styles["stages"]} role="group" aria-label={texts.label}>
      {STAGES.map((stage) => {
        const progress = stages[stage];
        return (
          <span
            key={stage}
            role="img"
            aria-label={`${texts[stage]}: ${texts[progress]}`}
            className={CLASSES[progress]}
          >
            {SIGNS[progress]} {texts[stage]}
          </span>
        );
      })}
      {share !== null && (
        <span className={styles["todo"]} title={texts.share(share)}>
          {share}
        </span>
      )}
    </span>
  );
}
