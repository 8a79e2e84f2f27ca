import { Button, Group, Modal, NativeSelect, Stack, Text } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { fieldErrorsOf } from "../../api/client.ts";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import type { ApiKey, Created } from "./keys.ts";
import { BY_DEFAULT, expiryOf } from "./lifetime.ts";
import { LifetimeFields } from "./lifetime-fields.tsx";
import { messages } from "./messages.ts";

interface Props {
  readonly apiKey: ApiKey;
  readonly roll: (body: NonNullable<Schemas["ApiKeyRoll"]>) => Promise<Created>;
  readonly onRolled: (key: Created) => void;
  readonly onClose: () => void;
}

const OVERLAPS = ["0", "3600", "86400", "604800"] as const;

/** Gives a key a new text, while the one of before works on for as long as programs need. */
export function RollKey({ apiKey, roll, onRolled, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { rolling } = texts;
  const queries = useQueryClient();
  const [overlap, setOverlap] = useState("86400");
  const [lifetime, setLifetime] = useState(BY_DEFAULT);
  const rolled = useMutation({
    // Secrets are not kept longer than they are shown.
    gcTime: 0,
    mutationFn: () => roll({ overlap_seconds: Number(overlap), expires_at: expiryOf(lifetime) }),
    onSuccess: async (created) => {
      onRolled(created);
      await queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const problems = fieldErrorsOf(rolled.error);
  return (
    <Modal opened onClose={onClose} title={texts.rollOf(apiKey.name)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rolled.mutate();
        }}
      >
        <Stack>
          <Text size="sm">{rolling.text}</Text>
          <NativeSelect
            label={rolling.overlap}
            data={OVERLAPS.map((value) => ({ value, label: rolling.overlaps[value] }))}
            value={overlap}
            onChange={(event) => setOverlap(event.currentTarget.value)}
            error={problems["overlap_seconds"]}
          />
          <LifetimeFields
            value={lifetime}
            onChange={setLifetime}
            unchosen={rolling.same}
            error={problems["expires_at"]}
          />
          {rolled.error !== null && Object.keys(problems).length === 0 && (
            <ScreenError error={rolled.error} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={rolled.isPending}>
              {texts.roll}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
