import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../screen-error.tsx";
import { messages } from "./messages.ts";

interface Props {
  readonly title: string;
  /** The word on the button. */
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  /** What will happen. */
  readonly children: string | readonly string[];
}

/** Asks before something that takes nothing along, and cannot be undone. */
export function Confirm({ title, action, onConfirm, onClose, children }: Props): ReactNode {
  const texts = useMessages(messages);
  const confirmed = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Modal opened onClose={onClose} title={title}>
      <Stack>
        {[children].flat().map((text) => (
          <Text key={text}>{text}</Text>
        ))}
        {confirmed.error !== null && <ScreenError error={confirmed.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.cancel}
          </Button>
          <Button color="red" loading={confirmed.isPending} onClick={() => confirmed.mutate()}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
