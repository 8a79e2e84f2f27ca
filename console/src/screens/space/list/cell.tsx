import type { ReactNode } from "react";
import { type Document, nameOf } from "../documents.ts";
import { stateLines } from "../state/state-lines.tsx";
import styles from "./list.module.css";
import { NAME, STATE } from "./question.ts";
import type { RowLook } from "./row-look.ts";

/** What a column shows of a document. No components: a list that scrolls makes hundreds of these a second. */
export function cellOf(column: string, document: Document, look: RowLook): ReactNode {
  switch (column) {
    case NAME:
      return nameLines(document, look);
    case STATE:
      return stateLines(document, look);
    case "file_type":
      return document.file_type;
    case "file_size":
      return look.formats.bytes(document.file_size);
    default:
      return <time dateTime={document.created_at}>{look.formats.ago(document.created_at, look.now)}</time>;
  }
}

function nameLines(document: Document, look: RowLook): ReactNode {
  const name = nameOf(document);
  return (
    <>
      <a
        href={`${import.meta.env.BASE_URL}documents/${document.id}`}
        tabIndex={-1}
        draggable={false}
        className={styles["name"]}
        title={name}
        data-opens
      >
        <bdi dir="auto">{name}</bdi>
      </a>
      {document.folder_path !== null && (
        <span className={styles["small"]} title={document.folder_path}>
          {look.texts.list.inFolder} <bdi dir="auto">{document.folder_path}</bdi>
        </span>
      )}
      {!look.columns.includes(STATE) && stateLines(document, look)}
    </>
  );
}
