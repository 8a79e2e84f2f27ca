import { Button, Group, Modal, NativeSelect, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { messages } from "./messages.ts";

interface Props {
  readonly webhookId: string;
  readonly onRolled: (secret: string) => void;
  readonly onClose: () => void;
}

const OVERLAPS = ["0", "3600", "86400", "604800"] as const;

/** Gives the webhook a new secret, while the one of before signs on for as long as the receiver needs. */
export function RollSecret({ webhookId, onRolled, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { rolling } = texts;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const [overlap, setOverlap] = useState("86400");
  const rolled = useMutation({
    // Secrets are not kept longer than they are shown.
    gcTime: 0,
    mutationFn: () =>
      answerOf(
        api.POST("/v1/webhooks/{webhook_id}/secret/roll", {
          params: { path: { webhook_id: webhookId } },
          body: { overlap_seconds: Number(overlap) },
        }),
      ),
    onSuccess: async ({ secret }) => {
      onRolled(secret);
      await queries.invalidateQueries({ queryKey: ["webhooks"] });
    },
  });
  return (
    <Modal opened onClose={onClose} title={rolling.title}>
      <Stack>
        <Text size="sm">{rolling.text}</Text>
        <NativeSelect
          label={rolling.overlap}
          data={OVERLAPS.map((value) => ({ value, label: rolling.overlaps[value] }))}
          value={overlap}
          onChange={(event) => setOverlap(event.currentTarget.value)}
        />
        {rolled.error !== null && <ScreenError error={rolled.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button loading={rolled.isPending} onClick={() => rolled.mutate()}>
            {texts.roll}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
