import { ActionIcon, Group, Menu, UnstyledButton } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type DragEvent, type ReactNode, useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { ConfirmDeletion } from "../../../parts/confirm-deletion.tsx";
import { draggedIds, isDragged } from "../dragging.ts";
import { ROOT_FOLDER } from "../documents.ts";
import { messages } from "../messages.ts";
import { FolderDialog } from "./folder-dialog.tsx";
import type { Folder } from "./folders-query.ts";

interface Places {
  readonly chosen: string | undefined;
  readonly mayWrite: boolean;
  readonly onChoose: (folder: string | undefined) => void;
  readonly onMove: (documentIds: readonly string[], folderId: string | null) => void;
}

interface PlaceProps extends Places {
  /** Undefined: everything, onto which nothing is dropped. */
  readonly id: string | undefined;
  readonly name: string;
}

/** One line of the tree: it is chosen by a click, and takes documents that are dropped on it. */
export function Place({ id, name, chosen, mayWrite, onChoose, onMove }: PlaceProps): ReactNode {
  const [isOver, setIsOver] = useState(false);
  const takes = (event: DragEvent): boolean => mayWrite && id !== undefined && isDragged(event);
  const isHere = chosen === id;
  return (
    <UnstyledButton
      onClick={() => onChoose(id)}
      aria-current={isHere ? "true" : undefined}
      fz="sm"
      py={3}
      px={6}
      w="100%"
      miw={0}
      fw={isHere ? 600 : 400}
      bg={isOver ? "var(--mantine-primary-color-light)" : "transparent"}
      onDragOver={(event: DragEvent) => {
        if (!takes(event)) return;
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event: DragEvent) => {
        if (!takes(event)) return;
        event.preventDefault();
        setIsOver(false);
        onMove(draggedIds(event), id === ROOT_FOLDER ? null : id!);
      }}
    >
      <Bidi>{name}</Bidi>
    </UnstyledButton>
  );
}

interface NodeProps extends Places {
  readonly folder: Folder;
  readonly tree: ReadonlyMap<string | null, readonly Folder[]>;
  readonly depth: number;
}

const INDENT_PX = 14;

export function FolderNode({ folder, tree, depth, ...places }: NodeProps): ReactNode {
  const texts = useMessages(messages).tree;
  const [isOpen, setIsOpen] = useState(false);
  const children = tree.get(folder.id) ?? [];
  return (
    <>
      <Group gap={2} wrap="nowrap" ps={depth * INDENT_PX}>
        <ActionIcon
          size="xs"
          variant="transparent"
          color="gray"
          c="dimmed"
          aria-label={texts.open(folder.name)}
          aria-expanded={isOpen}
          style={{ visibility: children.length === 0 ? "hidden" : "visible" }}
          onClick={() => setIsOpen(!isOpen)}
        >
          <span aria-hidden>{isOpen ? "▾" : "▸"}</span>
        </ActionIcon>
        <Place {...places} id={folder.id} name={folder.name} />
        {places.mayWrite && <FolderActions folder={folder} />}
      </Group>
      {isOpen &&
        children.map((child) => (
          <FolderNode {...places} key={child.id} folder={child} tree={tree} depth={depth + 1} />
        ))}
    </>
  );
}

function FolderActions({ folder }: { readonly folder: Folder }): ReactNode {
  const texts = useMessages(messages).tree;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const [shown, setShown] = useState<"rename" | "delete" | "create" | null>(null);
  const create = useMessages(messages).newFolder;
  const params = { path: { folder_id: folder.id } };
  const close = (): void => setShown(null);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            size="xs"
            variant="transparent"
            color="gray"
            c="dimmed"
            aria-label={texts.actions(folder.name)}
          >
            <span aria-hidden>⋯</span>
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setShown("create")}>{create}</Menu.Item>
          <Menu.Item onClick={() => setShown("rename")}>{texts.rename}</Menu.Item>
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setShown("delete")}>
            {texts.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {shown === "create" && <FolderDialog spaceId={folder.home_space_id} parent={folder} onClose={close} />}
      {shown === "rename" && <FolderDialog spaceId={folder.home_space_id} folder={folder} onClose={close} />}
      {shown === "delete" && (
        <ConfirmDeletion
          title={texts.removeTitle(folder.name)}
          action={texts.removeAction}
          count={() => answerOf(api.GET("/v1/folders/{folder_id}/deletion", { params }))}
          onConfirm={async () => {
            await answerOf(api.DELETE("/v1/folders/{folder_id}", { params }));
            await queries.invalidateQueries({ queryKey: ["folders"] });
            await queries.invalidateQueries({ queryKey: ["documents"] });
          }}
          onClose={close}
        />
      )}
    </>
  );
}
