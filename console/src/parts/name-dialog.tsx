import { Button, Group, Modal, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { fieldErrorsOf } from "../api/client.ts";
import { useMessages } from "../messages/messages.ts";
import { ScreenError } from "./screen-error.tsx";
import { messages } from "./messages.ts";

interface Props {
  readonly title: string;
  readonly name?: string;
  /** The word on the button, if it does not save. */
  readonly action?: string;
  readonly onSave: (name: string) => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks for the name of something; the service's refusal is shown where it was typed. */
export function NameDialog({ title, name: given = "", action, onSave, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const [name, setName] = useState(given);
  const saving = useMutation({ mutationFn: () => onSave(name.trim()), onSuccess: onClose });
  const problem = fieldErrorsOf(saving.error)["name"];
  return (
    <Modal opened onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
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
        {saving.error !== null && problem === undefined && <ScreenError error={saving.error} />}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button type="submit" loading={saving.isPending}>
            {action ?? texts.save}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
