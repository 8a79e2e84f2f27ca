import { Alert, Button, Group, List, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { useFormats } from "../messages/formats.ts";
import { useMessages } from "../messages/messages.ts";
import { messages } from "./messages.ts";
import { QueryView } from "./query-view.tsx";
import { ScreenError } from "./screen-error.tsx";

/** What a deletion takes along; what is 0 is not named. */
type Deletion = Readonly<Record<string, number>>;

interface Props {
  readonly title: string;
  /** The word on the button, such as "Delete folder". */
  readonly action: string;
  /** The service's own count. */
  readonly count: () => Promise<Deletion>;
  /** A name that has to be typed first, for what nobody wants to lose by a slip. */
  readonly typeName?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before something is deleted, and says by the service's own count what it takes along. */
export function ConfirmDeletion({ title, action, count, typeName, onConfirm, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const [typed, setTyped] = useState("");
  const [failure, setFailure] = useState<unknown>();
  const [isRunning, setIsRunning] = useState(false);
  // Counted anew each time: a count of a minute ago is not what is deleted now.
  const id = useId();
  const counted = useQuery({ queryKey: ["deletion", id], queryFn: count, staleTime: 0, gcTime: 0 });
  const confirm = (): void => {
    setIsRunning(true);
    onConfirm()
      .then(onClose, setFailure)
      .finally(() => setIsRunning(false));
  };
  const isReady = counted.data !== undefined && (typeName === undefined || typed === typeName);
  return (
    <Modal opened onClose={() => !isRunning && onClose()} title={title}>
      <Stack>
        <QueryView query={counted}>{(deletion) => <Counts deletion={deletion} />}</QueryView>
        {typeName !== undefined && (
          <TextInput
            label={texts.typeName(typeName)}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {failure !== undefined && <ScreenError error={failure} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isRunning} data-autofocus>
            {texts.cancel}
          </Button>
          <Button color="red.9" disabled={!isReady} loading={isRunning} onClick={confirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Counts({ deletion }: { readonly deletion: Deletion }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const named = Object.entries(texts.counts).filter(([kind]) => (deletion[kind] ?? 0) > 0);
  if (named.length === 0) return <Text>{texts.takesNothing}</Text>;
  return (
    <Alert color="red" variant="light" title={texts.takesAlong}>
      <List size="sm">
        {named.map(([kind, text]) => (
          <List.Item key={kind}>{text(deletion[kind]!)}</List.Item>
        ))}
        {(deletion["bytes"] ?? 0) > 0 && <List.Item>{formats.bytes(deletion["bytes"]!)}</List.Item>}
      </List>
      <Text size="sm" mt="xs">
        {texts.forGood}
      </Text>
    </Alert>
  );
}
