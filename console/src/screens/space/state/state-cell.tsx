import type { Document } from "@holdfast/client";
import type { ReactNode } from "react";
import { useMessages } from "../../../messages/messages.ts";
import { messages as partMessages } from "../../../parts/messages.ts";
import { STATUS_COLORS, type PipelineStatus } from "../../../parts/status-badge.tsx";
import { strongColor } from "../../../parts/strong-color.ts";
import { Ago } from "../../../parts/time.tsx";
import { isUnderWay } from "../documents.ts";
import styles from "../list/list.module.css";
import { messages } from "./messages.ts";
import { StageLine } from "./stage-line.tsx";

interface Props {
  readonly document: Document;
}

/** Where a document is, on two lines: its status, and below what it does, waits for or failed at. */
export function StateCell({ document }: Props): ReactNode {
  const { pipeline_status: status } = document.processing_state;
  return (
    <>
      {status !== undefined && <Status status={status} />}
      {isUnderWay(document) ? <UnderWay document={document} /> : <Ended document={document} />}
    </>
  );
}

/** As the badge of other screens, in a plain element, since a list draws many. */
function Status({ status }: { readonly status: PipelineStatus }): ReactNode {
  const color = STATUS_COLORS[status];
  return (
    <span
      className={styles["status"]}
      style={{ color: strongColor(color), background: `var(--mantine-color-${color}-light)` }}
    >
      {useMessages(partMessages).status[status]}
    </span>
  );
}

function UnderWay({ document: { processing_state: state } }: Props): ReactNode {
  const texts = useMessages(messages);
  const waiting = state.waiting_for ?? undefined;
  if (waiting === undefined) return <StageLine state={state} />;
  const what = `${texts.state.waits} ${waitTextOf(texts.waiting, waiting.code)}, ${texts.state.since}`;
  return (
    <span className={styles["small"]} title={what}>
      {what} <Ago at={waiting.since} />
    </span>
  );
}

function Ended({ document: { processing_state: state } }: Props): ReactNode {
  const texts = useMessages(messages);
  const failure = state.error ?? undefined;
  const left = state.warnings?.length ?? 0;
  if (state.pipeline_status !== "completed" && failure !== undefined) {
    const reason = textOf(texts.failures, failure.code) ?? failure.message;
    const why = `${reason} ${textOf(texts.remedies, failure.code) ?? ""}`;
    return (
      <span className={styles["failed"]} title={why}>
        {why}
      </span>
    );
  }
  return left > 0 ? <span className={styles["small"]}>{texts.state.partly(left)}</span> : null;
}

/** The text of a code, if the console has one. */
export const textOf = (texts: Readonly<Record<string, string>>, code: string): string | undefined =>
  Object.hasOwn(texts, code) ? texts[code] : undefined;

export function waitTextOf(
  { other, ...texts }: ReturnType<typeof useMessages<typeof messages.en>>["waiting"],
  code: string,
): string {
  return textOf(texts, code) ?? other(code);
}
