import { Button, Group, Modal, NativeSelect, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { ConfirmDeletion } from "../../parts/confirm-deletion.tsx";
import { countDocuments, deleteDocuments, moveDocuments } from "./bulk.ts";
import { foldersQuery, pathsOf } from "./folders/folders-query.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly spaceId: string;
  readonly ids: readonly string[];
  readonly can: (action: string) => boolean;
  readonly onDone: () => void;
}

/** What can be done with all that is selected. */
export function BulkBar({ spaceId, ids, can, onDone }: Props): ReactNode {
  const texts = useMessages(messages).bulk;
  const holdfast = useHoldfast();
  const queries = useQueryClient();
  const [shown, setShown] = useState<"move" | "delete" | null>(null);
  const report = (what: string, done: number, failed: number): void => {
    void queries.invalidateQueries({ queryKey: ["documents"] });
    notifications.show({
      color: failed > 0 ? "red" : "green",
      message: `${what}: ${texts.done(done)}${failed > 0 ? ` · ${texts.failed(failed)}` : ""}`,
    });
    onDone();
  };
  const reprocess = async (): Promise<void> => {
    const body = { document_ids: [...ids] };
    const { accepted, rejected } = await answerOf(holdfast.api.POST("/v1/data/batch-reprocess", { body }));
    report(texts.started, accepted, rejected);
  };
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" role="status" visibleFrom="sm">
        {texts.selected(ids.length)}
      </Text>
      {can("documents:update") && (
        <Button size="compact-sm" variant="default" onClick={() => setShown("move")}>
          {texts.move}
        </Button>
      )}
      {can("documents:reprocess") && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() =>
            void reprocess().catch((error: unknown) =>
              notifications.show({ color: "red", message: error instanceof Error ? error.message : "" }),
            )
          }
        >
          {texts.reprocess}
        </Button>
      )}
      {can("documents:delete") && (
        <Button size="compact-sm" color="red" onClick={() => setShown("delete")}>
          {texts.remove}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={onDone}>
        {texts.none}
      </Button>
      {shown === "move" && (
        <MoveDialog
          spaceId={spaceId}
          count={ids.length}
          onClose={() => setShown(null)}
          onMove={async (folderId) => {
            const { done, failures } = await moveDocuments(holdfast, ids, folderId);
            report(texts.moved, done.length, failures.length);
          }}
        />
      )}
      {shown === "delete" && (
        <ConfirmDeletion
          title={texts.removeTitle(ids.length)}
          action={texts.removeAction}
          count={() => countDocuments(holdfast, ids)}
          onConfirm={async () => {
            const { done, failures } = await deleteDocuments(holdfast, ids);
            report(texts.remove, done.length, failures.length);
          }}
          onClose={() => setShown(null)}
        />
      )}
    </Group>
  );
}

interface MoveProps {
  readonly spaceId: string;
  readonly count: number;
  readonly onMove: (folderId: string | null) => Promise<void>;
  readonly onClose: () => void;
}

function MoveDialog({ spaceId, count, onMove, onClose }: MoveProps): ReactNode {
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const { data: folders = [] } = useQuery(foldersQuery(holdfast, spaceId));
  const [to, setTo] = useState("");
  const [isMoving, setIsMoving] = useState(false);
  const options = [
    { value: "", label: texts.tree.root },
    ...pathsOf(folders).map(({ id, path }) => ({ value: id, label: path })),
  ];
  return (
    <Modal opened onClose={onClose} title={texts.bulk.moveTitle(count)}>
      <NativeSelect
        label={texts.bulk.to}
        data={options}
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
        data-autofocus
      />
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose}>
          {texts.tree.cancel}
        </Button>
        <Button
          loading={isMoving}
          onClick={() => {
            setIsMoving(true);
            void onMove(to === "" ? null : to);
          }}
        >
          {texts.bulk.move}
        </Button>
      </Group>
    </Modal>
  );
}
