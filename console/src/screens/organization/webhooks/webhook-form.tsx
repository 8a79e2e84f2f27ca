import { Button, Group, Modal, MultiSelect, NativeSelect, Stack, TextInput } from "@mantine/core";
import { HoldfastError } from "@holdfast/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../../api/client.ts";
import { useHoldfast, useRoles } from "../../../app/context.ts";
import { spacesQuery } from "../../../app/spaces.ts";
import { useMessages } from "../../../messages/messages.ts";
import { errorUnder } from "../../../parts/lists/error-under.ts";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { EVENT_TYPES, type EventType } from "./event-types.ts";
import { messages } from "./messages.ts";
import type { Webhook } from "./webhook-queries.ts";

interface Props {
  /** The one that is changed, and its ETag; absent: a new one. */
  readonly webhook?: Webhook;
  readonly etag?: string | null;
  /** Gets the secret of a new one. */
  readonly onDone: (secret: string | undefined) => void;
  readonly onClose: () => void;
}

const CHANGED_SINCE = 412;

export function WebhookForm({ webhook, etag: newest = null, onDone, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { form } = texts;
  const { isAdmin } = useRoles();
  // That of the fields as they were when the form was opened: another's change since then is not written
  // over.
  const [etag] = useState(newest);
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [spaceId, setSpaceId] = useState(webhook?.space_id ?? "");
  const [types, setTypes] = useState<readonly EventType[]>((webhook?.types ?? []) as EventType[]);
  const [description, setDescription] = useState(webhook?.description ?? "");
  const saved = useSave(webhook, etag, onDone);
  const problems = fieldErrorsOf(saved.error);
  const isNew = webhook === undefined;
  return (
    <Modal opened onClose={onClose} title={isNew ? form.make : form.change} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saved.mutate({ url, spaceId: spaceId === "" ? null : spaceId, types, description });
        }}
      >
        <Stack>
          <TextInput
            type="url"
            label={form.url}
            description={form.urlHint}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={errorUnder(problems, "url")}
            maxLength={2048}
            required
            data-autofocus
          />
          {isNew && (
            <SpaceField
              value={spaceId}
              onChange={setSpaceId}
              withOrganization={isAdmin}
              error={errorUnder(problems, "space_id")}
            />
          )}
          <MultiSelect
            label={form.types}
            description={form.typesHint}
            data={EVENT_TYPES}
            value={[...types]}
            onChange={(chosen) => setTypes(chosen as EventType[])}
            error={errorUnder(problems, "types")}
            searchable
            clearable
          />
          <TextInput
            label={form.description}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={errorUnder(problems, "description")}
            maxLength={256}
          />
          <Failure error={saved.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={saved.isPending} disabled={isNew && !isAdmin && spaceId === ""}>
              {isNew ? form.create : form.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const SHOWN_FIELDS = ["url", "types", "space_id", "description"];

/** What the service refuses that is of no field. */
function Failure({ error }: { readonly error: Error | null }): ReactNode {
  const { form } = useMessages(messages);
  const problems = fieldErrorsOf(error);
  if (error === null || SHOWN_FIELDS.some((field) => errorUnder(problems, field) !== undefined)) return null;
  const isConflict = error instanceof HoldfastError && error.status === CHANGED_SINCE;
  return <ScreenError error={isConflict ? new Error(form.conflict) : error} />;
}

interface Draft {
  readonly url: string;
  readonly spaceId: string | null;
  readonly types: readonly EventType[];
  readonly description: string;
}

function useSave(webhook: Webhook | undefined, etag: string | null, onDone: Props["onDone"]) {
  const { api } = useHoldfast();
  const queries = useQueryClient();
  return useMutation({
    // Secrets are not kept longer than they are shown.
    gcTime: 0,
    mutationFn: async ({ url, spaceId, types, description }: Draft): Promise<string | undefined> => {
      const body = { url, types: [...types], description: description === "" ? null : description };
      if (webhook === undefined) {
        const { secret } = await answerOf(api.POST("/v1/webhooks", { body: { ...body, space_id: spaceId } }));
        return secret;
      }
      await answerOf(
        api.PATCH("/v1/webhooks/{webhook_id}", {
          params: {
            path: { webhook_id: webhook.id },
            header: etag === null ? {} : { "If-Match": etag },
          },
          body,
        }),
      );
      return undefined;
    },
    onSuccess: async (secret) => {
      onDone(secret);
      await queries.invalidateQueries({ queryKey: ["webhooks"] });
    },
  });
}

interface SpaceProps {
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly withOrganization: boolean;
  readonly error: string | undefined;
}

function SpaceField({ value, onChange, withOrganization, error }: SpaceProps): ReactNode {
  const texts = useMessages(messages);
  const { data = [] } = useQuery(spacesQuery(useHoldfast()));
  return (
    <NativeSelect
      label={texts.form.of}
      data={[
        { value: "", label: withOrganization ? texts.organization : "" },
        ...data.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
    />
  );
}
