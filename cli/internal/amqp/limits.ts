/**
 * The largest AMQP frame to send, and the largest payload to accept, in bytes. The agent of a SmartOS enrolment image
 * refuses larger frames.
 */
export const AMQP_FRAME_BYTES_MAX = 131_072;
/** The largest depth of nested AMQP tables. */
export const AMQP_TABLE_DEPTH_MAX = 8;
