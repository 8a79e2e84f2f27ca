import { Button, Divider, Drawer, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { HoldfastError } from "@holdfast/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../../api/client.ts";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { ConfirmDeletion } from "../../../parts/confirm-deletion.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { useSpace } from "../access.ts";
import { Members } from "./members.tsx";
import { messages } from "./messages.ts";

interface Props {
  readonly spaceId: string;
  readonly onClose: () => void;
}

/** The name of a space, its members, and its end. */
export function SpaceSettings({ spaceId, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { data } = useSpace(spaceId);
  const [isDeleting, setIsDeleting] = useState(false);
  if (data === undefined) return null;
  const { value: space } = data;
  return (
    <Drawer opened onClose={onClose} title={texts.title} position="right" size="lg">
      {space.embedding.is_language_known === false && (
        <Text size="sm" mb="md">
          {texts.unknownLanguage}
        </Text>
      )}
      {space.is_private ? (
        <Text>{texts.privateText}</Text>
      ) : (
        <Stack>
          <Rename spaceId={spaceId} />
          <Divider />
          <Members spaceId={spaceId} />
          <Divider />
          <Title order={2} size="h4">
            {texts.danger}
          </Title>
          <Text size="sm">{texts.dangerText}</Text>
          <Group>
            <Button variant="default" c="var(--mantine-color-error)" onClick={() => setIsDeleting(true)}>
              {texts.remove_space}
            </Button>
          </Group>
        </Stack>
      )}
      {isDeleting && <DeleteSpace spaceId={spaceId} name={space.name} onClose={() => setIsDeleting(false)} />}
    </Drawer>
  );
}

function Rename({ spaceId }: { readonly spaceId: string }): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const { data } = useSpace(spaceId);
  const saved = data?.value.name ?? "";
  const [name, setName] = useState(saved);
  // The version that the person saw when they began to type.
  const [etag, setEtag] = useState(data?.etag ?? null);
  const renaming = useMutation({
    mutationFn: () =>
      answerOf(
        api.PATCH("/v1/spaces/{space_id}", {
          params: { path: { space_id: spaceId }, header: etag === null ? {} : { "If-Match": etag } },
          body: { name },
        }),
      ),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["spaces"] });
      const fresh = queries.getQueryData<{ etag: string | null }>(["spaces", spaceId, "tagged"]);
      setEtag(fresh?.etag ?? null);
    },
  });
  const isStale = renaming.error instanceof HoldfastError && renaming.error.status === 412;
  const problem = isStale ? `${texts.changedMeanwhile} (${saved})` : fieldErrorsOf(renaming.error)["name"];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        renaming.mutate();
      }}
    >
      <Group align="flex-start" wrap="nowrap">
        <TextInput
          flex={1}
          label={texts.name}
          value={name}
          required
          onChange={(event) => setName(event.currentTarget.value)}
          error={problem}
          description={renaming.isSuccess && name === saved ? texts.renamed : undefined}
        />
        <Button
          type="submit"
          mt={25}
          variant="default"
          loading={renaming.isPending}
          disabled={name === saved}
        >
          {texts.rename}
        </Button>
      </Group>
      {renaming.error !== null && problem === undefined && <ScreenError error={renaming.error} />}
    </form>
  );
}

interface DeleteProps extends Props {
  readonly name: string;
}

function DeleteSpace({ spaceId, name, onClose }: DeleteProps): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const params = { path: { space_id: spaceId } };
  const remove = async (): Promise<void> => {
    await answerOf(api.DELETE("/v1/spaces/{space_id}", { params }));
    await navigate({ to: "/" });
    await queries.invalidateQueries({ queryKey: ["spaces"] });
  };
  return (
    <ConfirmDeletion
      title={texts.removeTitle(name)}
      action={texts.removeAction}
      typeName={name}
      count={() => answerOf(api.GET("/v1/spaces/{space_id}/deletion", { params }))}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
