import type { Document } from "@holdfast/client";
import type { ReactNode } from "react";
import { useMessages } from "../../../messages/messages.ts";
import { StatusBadge } from "../../../parts/status-badge.tsx";
import { Ago } from "../../../parts/time.tsx";
import styles from "../list/list.module.css";
import { messages } from "./messages.ts";
import { StageLine } from "./stage-line.tsx";
import { isUnderWay } from "../documents.ts";

/** Where a document is, on two lines: its status, and below what it does, waits for or failed at. */
export function StateCell({ document }: { readonly document: Document }): ReactNode {
  const texts = useMessages(messages);
  const { processing_state: state } = document;
  const { pipeline_status: status } = state;
  const waiting = state.waiting_for ?? undefined;
  const failure = status === "failed" || status === "cancelled" ? (state.error ?? undefined) : undefined;
  const left = state.warnings?.length ?? 0;
  const why =
    failure === undefined
      ? ""
      : `${textOf(texts.failures, failure.code) ?? failure.message} ${textOf(texts.remedies, failure.code) ?? ""}`;
  return (
    <>
      {status !== undefined && <StatusBadge status={status} />}
      {waiting !== undefined && (
        <span className={styles["small"]}>
          {texts.state.waits} {waitTextOf(texts.waiting, waiting.code)}, {texts.state.since}{" "}
          <Ago at={waiting.since} />
        </span>
      )}
      {waiting === undefined && failure !== undefined && (
        <span className={styles["failed"]} title={why}>
          {why}
        </span>
      )}
      {waiting === undefined && isUnderWay(document) && <StageLine state={state} />}
      {status === "completed" && left > 0 && (
        <span className={styles["small"]}>{texts.state.partly(left)}</span>
      )}
    </>
  );
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
