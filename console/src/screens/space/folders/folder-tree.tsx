import { Button, Group, Paper, ScrollArea, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { moveDocuments } from "../bulk.ts";
import { ROOT_FOLDER } from "../documents.ts";
import { messages } from "../messages.ts";
import { FolderDialog } from "./folder-dialog.tsx";
import { FolderNode, Place } from "./folder-node.tsx";
import { childrenByParent, foldersQuery } from "./folders-query.ts";

interface Props {
  readonly spaceId: string;
  readonly chosen: string | undefined;
  readonly mayWrite: boolean;
  readonly onChoose: (folder: string | undefined) => void;
}

/** The folders of a space as a tree, onto which documents are dragged. */
export function FolderTree({ spaceId, chosen, mayWrite, onChoose }: Props): ReactNode {
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const queries = useQueryClient();
  const { data: folders = [] } = useQuery(foldersQuery(holdfast, spaceId));
  const [isNew, setIsNew] = useState(false);
  const children = childrenByParent(folders);
  const move = (ids: readonly string[], folderId: string | null): void => {
    void moveDocuments(holdfast, ids, folderId).then(({ done, failures }) => {
      void queries.invalidateQueries({ queryKey: ["documents"] });
      notifications.show({
        color: failures.length > 0 ? "red" : "green",
        message:
          failures.length > 0
            ? texts.bulk.failed(failures.length)
            : `${texts.bulk.moved}: ${texts.bulk.done(done.length)}`,
      });
    });
  };
  const places = { chosen, mayWrite, onChoose, onMove: move };
  return (
    <Paper
      component="nav"
      aria-label={texts.tree.title}
      w={{ base: "100%", md: 220 }}
      mah={{ base: 160, md: "100%" }}
    >
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" fw={600}>
          {texts.tree.title}
        </Text>
        {mayWrite && (
          <Button size="compact-xs" variant="default" onClick={() => setIsNew(true)}>
            {texts.newFolder}
          </Button>
        )}
      </Group>
      <ScrollArea.Autosize mah="100%">
        <Place {...places} id={undefined} name={texts.tree.all} />
        <Place {...places} id={ROOT_FOLDER} name={texts.tree.root} />
        {(children.get(null) ?? []).map((folder) => (
          <FolderNode {...places} key={folder.id} folder={folder} tree={children} depth={0} />
        ))}
      </ScrollArea.Autosize>
      {isNew && (
        <FolderDialog
          spaceId={spaceId}
          parent={folders.find(({ id }) => id === chosen)}
          onClose={() => setIsNew(false)}
        />
      )}
    </Paper>
  );
}
