import { Alert, Button, List, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { QueryView } from "../../parts/query-view.tsx";
import { messages } from "./messages.ts";
import { integrityQuery } from "./queries.ts";

/** Whether what the service has of the document belongs together. */
export function Integrity({ documentId }: { readonly documentId: string }): ReactNode {
  const texts = useMessages(messages).integrity;
  const formats = useFormats();
  const holdfast = useHoldfast();
  const check = useQuery(integrityQuery(holdfast, documentId));
  return (
    <Stack align="flex-start">
      <QueryView query={check}>
        {({ ok, checked_at: at, findings }) =>
          ok ? (
            <Alert color="green" variant="light" title={texts.ok}>
              {texts.okText(formats.time(at))}
            </Alert>
          ) : (
            <Alert color="red" variant="light" title={texts.wrong(findings.length)}>
              <List>
                {findings.map(({ code, message, pipeline_run_id: runId }) => (
                  <List.Item key={`${code} ${runId}`}>
                    {message} ({code})
                  </List.Item>
                ))}
              </List>
            </Alert>
          )
        }
      </QueryView>
      <Button variant="default" loading={check.isFetching} onClick={() => void check.refetch()}>
        {texts.again}
      </Button>
    </Stack>
  );
}
