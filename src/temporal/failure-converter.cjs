// The only place that tells Temporal to treat failure messages and stacks as payloads, marked as those of a failure. CommonJS, because Temporal requires it by path.
const { DefaultFailureConverter } = require("@temporalio/common");
const { placedFailure } = require("../domain/payloads/failures.ts");

class SealedFailureConverter extends DefaultFailureConverter {
  errorToFailure(error, payloadConverter, context) {
    return placedFailure(super.errorToFailure(error, payloadConverter, context));
  }
}

exports.failureConverter = new SealedFailureConverter({ encodeCommonAttributes: true });
