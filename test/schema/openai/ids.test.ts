import { describe, expect, it } from "vitest";
import { z } from "zod";
import { decodeId, encodeId, FileIdInput, FileIdOutput, plainId } from "../../../src/schema/openai/ids.ts";
import { problemsOf } from "../../support/clients/problems.ts";

const UUID = "01900000-0000-7000-8000-0000000000af";

describe("an id in OpenAI's form", () => {
  it("is the UUID in another coat, both ways", () => {
    expect(encodeId("vectorStore", UUID)).toBe("vs_019000000000700080000000000000af");
    expect(decodeId("vectorStore", encodeId("vectorStore", UUID))).toBe(UUID);
    expect(FileIdInput.parse(FileIdOutput.parse(UUID))).toBe(UUID);
  });

  it.each(["vs_019000000000700080000000000000af", UUID, "file-", "file-xyz", `file-${"0".repeat(33)}`])(
    "of a file is not %s",
    (id) => {
      expect(decodeId("file", id)).toBeNull();
      expect(FileIdInput.safeParse(id).success).toBe(false);
    },
  );

  it("that begins as it should and has other digits is told the whole form", () => {
    expect(problemsOf(z.object({ file_id: FileIdInput }), { file_id: "file-abc" })).toMatchObject([
      { loc: ["body", "file_id"], msg: "Value error, must be `file-` and 32 hexadecimal digits" },
    ]);
  });

  it("is one id in capitals and in small letters", () => {
    expect(decodeId("response", "resp_019000000000700080000000000000AF")).toBe(UUID);
  });

  it("is told to the audit log as the UUID", () => {
    expect(plainId(encodeId("fileBatch", UUID))).toBe(UUID);
    expect(plainId(UUID)).toBe(UUID);
    expect(plainId("nonsense")).toBe("nonsense");
  });

  it("says in the OpenAPI document what it looks like", () => {
    expect(z.toJSONSchema(FileIdInput, { io: "input" })).toMatchObject({ pattern: "^file-[0-9a-fA-F]{32}$" });
  });
});
