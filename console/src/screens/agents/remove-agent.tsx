import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { messages } from "./messages.ts";
import type { Agent } from "./values.ts";

interface Props {
  readonly agent: Agent;
  readonly onClose: () => void;
}

export function RemoveAgent({ agent, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const removal = useMutation({
    mutationFn: () =>
      answerOf(api.DELETE("/v1/agents/{agent_id}", { params: { path: { agent_id: agent.id } } })),
    async onSuccess() {
      await navigate({ to: "/agents" });
      await queries.invalidateQueries({ queryKey: ["agents"] });
    },
  });
  return (
    <Modal opened onClose={onClose} title={texts.removeTitle(agent.name)}>
      <Stack>
        <Text>{texts.removeText}</Text>
        {removal.error !== null && <ScreenError error={removal.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.cancel}
          </Button>
          <Button color="red" loading={removal.isPending} onClick={() => removal.mutate()}>
            {texts.remove}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
