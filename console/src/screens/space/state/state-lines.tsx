import type { ReactNode } from "react";
import { STATUS_COLORS } from "../../../parts/status-badge.tsx";
import { strongColor } from "../../../parts/strong-color.ts";
import { type Document, isUnderWay } from "../documents.ts";
import type { RowLook } from "../list/row-look.ts";
import styles from "../list/list.module.css";
import { failureTextOf, waitTextOf } from "./code-texts.ts";
import { StageLine } from "./stage-line.tsx";

/** Where a document is, on two lines: its status, and below what it does, waits for or failed at. */
export function stateLines(document: Document, look: RowLook): ReactNode {
  const { pipeline_status: status } = document.processing_state;
  const color = status === undefined ? "gray" : STATUS_COLORS[status];
  return (
    <>
      {status !== undefined && (
        <span
          className={styles["status"]}
          style={{ color: strongColor(color), background: `var(--mantine-color-${color}-light)` }}
        >
          {look.texts.status[status]}
        </span>
      )}
      {isUnderWay(document) ? progressLine(document, look) : endLine(document, look)}
    </>
  );
}

function progressLine({ processing_state: state }: Document, { texts, formats, now }: RowLook): ReactNode {
  const waiting = state.waiting_for ?? undefined;
  if (waiting === undefined) return <StageLine state={state} />;
  const since = `${texts.state.state.since} ${formats.ago(waiting.since, now)}`;
  const what = `${texts.state.state.waits} ${waitTextOf(texts.state.waiting, waiting.code)}, ${since}`;
  return (
    <span className={styles["small"]} title={what}>
      {what}
    </span>
  );
}

function endLine({ processing_state: state }: Document, { texts: { state: texts } }: RowLook): ReactNode {
  const failure = state.error ?? undefined;
  const left = state.warnings?.length ?? 0;
  if (state.pipeline_status !== "completed" && failure !== undefined) {
    const why = failureTextOf(texts, failure);
    return (
      <span className={styles["failed"]} title={why}>
        {why}
      </span>
    );
  }
  return left > 0 ? <span className={styles["small"]}>{texts.state.partly(left)}</span> : null;
}
