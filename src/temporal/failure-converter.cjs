// Makes failure messages and stacks payloads, so that they are encrypted, and marks them as parts of a failure.
// CommonJS, because Temporal requires it by its path.
const { DefaultFailureConverter } = require("@temporalio/common");
const { placedFailure } = require("../domain/payloads/failures.ts");

class SealedFailureConverter extends DefaultFailureConverter {
  errorToFailure(error, payloadConverter, context) {
    return placedFailure(super.errorToFailure(error, payloadConverter, context));
  }
}

exports.failureConverter = new SealedFailureConverter({ encodeCommonAttributes: true });
