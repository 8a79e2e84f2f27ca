// The only place that tells Temporal to treat failure messages and stacks as payloads. CommonJS, because Temporal requires it by path.
const { DefaultFailureConverter } = require("@temporalio/common");

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
