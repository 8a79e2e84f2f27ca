/** Whether a time of the service is still to come. */
export const isAhead = (time: string): boolean => new Date(time).getTime() > Date.now();
