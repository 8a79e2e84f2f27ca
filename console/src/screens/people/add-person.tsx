import { Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../api/client.ts";
import { useHoldfast, useMe } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { errorUnder } from "../../parts/lists/error-under.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { ROLES } from "./member-role.tsx";
import type { Member } from "./members.ts";
import { messages } from "./messages.ts";

export function AddPerson({ onClose }: { readonly onClose: () => void }): ReactNode {
  const texts = useMessages(messages);
  const { form } = texts;
  const { api } = useHoldfast();
  const { organization } = useMe();
  const queries = useQueryClient();
  // The id is ours to choose: who sends twice after a fault of the network adds one person.
  const [userId] = useState(() => crypto.randomUUID());
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Member["role"]>("member");
  const added = useMutation({
    mutationFn: () =>
      answerOf(
        api.PUT("/v1/organizations/{organization_id}/members/{user_id}", {
          params: { path: { organization_id: organization.id, user_id: userId } },
          body: { name, email, role },
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["members"] });
      onClose();
    },
  });
  const problems = fieldErrorsOf(added.error);
  const nameProblem = errorUnder(problems, "name");
  const emailProblem = errorUnder(problems, "email");
  return (
    <Modal opened onClose={onClose} title={form.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          added.mutate();
        }}
      >
        <Stack>
          <TextInput
            label={form.name}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={nameProblem}
            required
            maxLength={255}
            data-autofocus
          />
          <TextInput
            type="email"
            label={form.email}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={emailProblem}
            required
            maxLength={320}
          />
          <NativeSelect
            label={form.role}
            data={ROLES.map((each) => ({ value: each, label: texts.roles[each] }))}
            value={role}
            onChange={(event) => setRole(event.currentTarget.value as Member["role"])}
          />
          <Text size="sm" c="dimmed">
            {texts.formHint}
          </Text>
          {added.error !== null && nameProblem === undefined && emailProblem === undefined && (
            <ScreenError error={added.error} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={added.isPending}>
              {form.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
