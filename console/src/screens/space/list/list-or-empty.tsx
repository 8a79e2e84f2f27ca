import { Button, Text } from "@mantine/core";
import type { ReactNode, RefObject } from "react";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Empty } from "../../../parts/empty.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { ScreenLoading } from "../../../parts/screen-loading.tsx";
import type { Rights } from "../access.ts";
import { messages } from "../messages.ts";
import { DocumentList } from "./document-list.tsx";
import type { RowActions } from "./document-row.tsx";
import { type ListAddress, NEWEST, isFiltered, knownOrder } from "./question.ts";
import type { ListState } from "./use-list.ts";

interface Props {
  readonly list: ListState;
  readonly rights: Rights;
  readonly address: ListAddress;
  readonly onAddress: (change: ListAddress) => void;
  readonly actions: Pick<RowActions, "open" | "openMenu" | "drag">;
  readonly gridRef: RefObject<HTMLDivElement | null>;
}

/** The list, or why there is nothing in it and what to do. */
export function ListOrEmpty({ list, rights, address, onAddress, actions, gridRef }: Props): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const { rows, total } = list;
  if (!rights.canRead) return <Empty title={texts.empty.managerTitle} text={texts.empty.managerText} />;
  if (rows.total === undefined)
    return rows.error === null ? <ScreenLoading /> : <ScreenError error={rows.error} retry={rows.retry} />;
  if (total > 0)
    return (
      <>
        <DocumentList
          list={list}
          canSelect={rights.canWrite}
          order={knownOrder(address.order)}
          onOrder={(order) => onAddress({ order: order === NEWEST ? undefined : order })}
          actions={actions}
          gridRef={gridRef}
        />
        <Text size="xs" c="dimmed" role="status">
          {texts.list.total(formats.number(total), total === 1)}
        </Text>
      </>
    );
  if (isFiltered(address))
    return (
      <Empty title={texts.empty.filteredTitle} text={texts.empty.filteredText}>
        <Button
          variant="default"
          onClick={() => onAddress({ q: undefined, status: undefined, type: undefined })}
        >
          {texts.list.clear}
        </Button>
      </Empty>
    );
  const { title, folderTitle, readerText, text, folderText } = texts.empty;
  if (address.folder !== undefined)
    return <Empty title={folderTitle} text={rights.canWrite ? folderText : ""} />;
  return <Empty title={title} text={rights.canWrite ? text : readerText} />;
}
