import { Anchor, Checkbox, Skeleton, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, memo } from "react";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { Ago } from "../../parts/time.tsx";
import { type Document, isUnderWay, nameOf } from "./documents.ts";
import { startDragging } from "./dragging.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly index: number;
  readonly top: number;
  /** Undefined while it loads. */
  readonly document: Document | undefined;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly selected: ReadonlySet<string>;
  readonly mayWrite: boolean;
  readonly onToggle: (id: string, isOn: boolean) => void;
}

export const DocumentRow = memo(function DocumentRow(props: Props): ReactNode {
  const { index, top, document, isActive, isSelected, selected, mayWrite, onToggle } = props;
  const texts = useMessages(messages).table;
  const formats = useFormats();
  const style = { transform: `translateY(${top}px)`, top: 0 };
  if (document === undefined)
    return (
      <div className="document-row" role="row" aria-rowindex={index + 1} aria-busy="true" style={style}>
        <span />
        <Skeleton h={12} w="60%" animate={false} />
      </div>
    );
  const name = nameOf(document);
  return (
    <div
      className="document-row"
      role="row"
      aria-rowindex={index + 1}
      data-active={isActive}
      data-selected={isSelected}
      style={style}
      draggable={mayWrite}
      onDragStart={(event) => startDragging(event, isSelected ? [...selected] : [document.id])}
    >
      <span role="cell">
        {mayWrite && (
          <Checkbox
            size="xs"
            aria-label={texts.select(name)}
            checked={isSelected}
            onChange={(event) => onToggle(document.id, event.currentTarget.checked)}
          />
        )}
      </span>
      <span role="cell">
        <Anchor
          size="sm"
          c="inherit"
          renderRoot={(anchor) => (
            <Link
              to="/documents/$documentId"
              params={{ documentId: document.id }}
              draggable={false}
              {...anchor}
            />
          )}
        >
          <Bidi>{name}</Bidi>
        </Anchor>
        {document.folder_path !== null && (
          <Text span size="xs" c="dimmed" ms={6}>
            <Bidi>{document.folder_path}</Bidi>
          </Text>
        )}
      </span>
      <span role="cell">
        <State document={document} />
      </span>
      <span role="cell" className="aside">
        {document.file_type}
      </span>
      <span role="cell" className="aside">
        {formats.bytes(document.file_size)}
      </span>
      <span role="cell" className="aside">
        <Ago at={document.created_at} />
      </span>
    </div>
  );
});

/** How far it is; what it waits for and since when; why it failed. */
function State({ document }: { readonly document: Document }): ReactNode {
  const texts = useMessages(messages).table;
  const formats = useFormats();
  const { pipeline_status: status = "queued", waiting_for: waiting, error } = document.processing_state;
  if (waiting !== undefined && isUnderWay(document)) {
    const text = texts.waits(waiting.code, formats.ago(waiting.since));
    return (
      <Text
        size="xs"
        c="light-dark(var(--mantine-color-orange-9), var(--mantine-color-orange-3))"
        title={text}
      >
        {text}
      </Text>
    );
  }
  return (
    <>
      {isUnderWay(document) && <Steps document={document} />}
      <StatusBadge status={status} />
      {error !== undefined && error !== null && (
        <Anchor
          size="xs"
          ms={6}
          underline="always"
          href={`/docs/errors/${error.code}`}
          target="_blank"
          title={error.message}
          aria-label={`${error.message} ${texts.helpFailed}`}
        >
          {error.code}
        </Anchor>
      )}
    </>
  );
}

function Steps({ document }: { readonly document: Document }): ReactNode {
  const texts = useMessages(messages).table;
  const { parsed, chunked, embedded } = document.processing_state;
  const done = [parsed, chunked, embedded];
  const now = done.indexOf(false);
  return (
    <span className="steps" role="img" aria-label={`${texts.steps}: ${done.filter(Boolean).length}/3`}>
      {done.map((isDone, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- three steps, always the same
        <span key={index} data-step={isDone ? "done" : index === now ? "now" : "next"} />
      ))}
    </span>
  );
}
