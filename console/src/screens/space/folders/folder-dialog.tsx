import { Button, Group, Modal, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../../api/client.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { messages } from "../messages.ts";
import type { Folder } from "./folders-query.ts";

interface Props {
  readonly spaceId: string;
  /** Of a new folder. */
  readonly parent?: Folder | undefined;
  /** The one that is renamed; undefined: a new one is made. */
  readonly folder?: Folder;
  readonly onClose: () => void;
}

/** Makes a folder, or gives one another name. */
export function FolderDialog({ spaceId, parent, folder, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const [name, setName] = useState(folder?.name ?? "");
  const change = useMutation({
    mutationFn: () =>
      folder === undefined
        ? answerOf(
            api.POST("/v1/folders", {
              body: { name, space_id: spaceId, parent_folder_id: parent?.id ?? null },
            }),
          )
        : answerOf(
            api.PATCH("/v1/folders/{folder_id}", {
              params: { path: { folder_id: folder.id } },
              body: { name },
            }),
          ),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["folders"] });
      onClose();
    },
  });
  const problem = fieldErrorsOf(change.error)["name"];
  return (
    <Modal opened onClose={onClose} title={folder === undefined ? texts.newFolder : texts.tree.rename}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        {parent !== undefined && <Text size="sm">{texts.tree.inside(parent.name)}</Text>}
        <TextInput
          label={texts.tree.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={problem}
          required
          data-autofocus
        />
        {change.error !== null && problem === undefined && <ScreenError error={change.error} />}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            {texts.tree.cancel}
          </Button>
          <Button type="submit" loading={change.isPending}>
            {folder === undefined ? texts.tree.create : texts.tree.save}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
