import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../../api/client.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { errorUnder } from "../../../parts/lists/error-under.ts";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { messages } from "./messages.ts";
import { expectDeliveries } from "./webhook-queries.ts";

interface Props {
  readonly webhookId: string;
  readonly onClose: () => void;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** As a field of date and time has it, where the person is. */
const localOf = (time: number): string =>
  new Date(time - new Date(time).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);

export function ReplayEvents({ webhookId, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { replaying } = texts;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  // One key for this dialog: who sends twice after a fault of the network replays once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [from, setFrom] = useState(() => localOf(Date.now() - DAY_MS));
  const [to, setTo] = useState("");
  const replayed = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST("/v1/webhooks/{webhook_id}/replay", {
          params: {
            path: { webhook_id: webhookId },
            header: { "Idempotency-Key": `${idempotencyKey} ${from} ${to}` },
          },
          body: {
            from: new Date(from).toISOString(),
            ...(to === "" ? {} : { to: new Date(to).toISOString() }),
          },
        }),
      ),
    onSuccess: async () => {
      expectDeliveries(webhookId);
      notifications.show({ message: texts.replayed });
      onClose();
      await queries.invalidateQueries({ queryKey: ["webhooks"] });
    },
  });
  const problems = fieldErrorsOf(replayed.error);
  const isElsewhere = replayed.error !== null && !errorUnder(problems, "from") && !errorUnder(problems, "to");
  return (
    <Modal opened onClose={onClose} title={replaying.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          replayed.mutate();
        }}
      >
        <Stack>
          <Text size="sm">{replaying.text}</Text>
          <TextInput
            type="datetime-local"
            label={replaying.from}
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
            error={errorUnder(problems, "from")}
            required
          />
          <TextInput
            type="datetime-local"
            label={replaying.to}
            description={replaying.toHint}
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
            error={errorUnder(problems, "to")}
          />
          {isElsewhere && <ScreenError error={replayed.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={replayed.isPending}>
              {texts.replay}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
