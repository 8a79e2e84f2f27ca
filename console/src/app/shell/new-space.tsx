import { Button, Group, Modal, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../api/client.ts";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { useHoldfast } from "../context.ts";
import { messages } from "../messages.ts";

export function NewSpace({ onClose }: { readonly onClose: () => void }): ReactNode {
  const texts = useMessages(messages).newSpace;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const creation = useMutation({
    mutationFn: () => answerOf(api.POST("/v1/spaces", { body: { name } })),
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: ["spaces"] });
      onClose();
      await navigate({ to: "/spaces/$spaceId", params: { spaceId: id } });
    },
  });
  const problem = fieldErrorsOf(creation.error)["name"];
  return (
    <Modal opened onClose={onClose} title={texts.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          creation.mutate();
        }}
      >
        <TextInput
          label={texts.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={problem}
          required
          data-autofocus
        />
        {creation.error !== null && problem === undefined && <ScreenError error={creation.error} />}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button type="submit" loading={creation.isPending}>
            {texts.create}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
