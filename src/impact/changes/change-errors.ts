import { AppError } from '../../base/errors.ts';

export function rejected(error: AppError): never {
  throw error;
}

/** Says in which field of the change the fault is. */
export function errorIn(field: string, error: AppError): AppError {
  const errors = error.detail.errors ?? [{ field: '', message: error.message }];
  return new AppError(error.kind, error.message, {
    ...error.detail,
    errors: errors.map((one) => ({
      field: one.field === '' ? field : `${field}.${one.field}`,
      message: one.message,
    })),
  });
}

export function inField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof AppError ? errorIn(field, error) : error;
  }
}

export async function inFieldSoon<T>(field: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof AppError ? errorIn(field, error) : error;
  }
}

/** Says which change of the list is at fault, also in the message: only some errors have fields. */
export async function inChange(place: number, make: () => void | Promise<void>): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [fault] = error.detail.errors ?? [];
    const where = `changes[${place}]${fault ? `.${fault.field}` : ''}`;
    throw new AppError(error.kind, `${where}: ${error.message}`, {
      ...error.detail,
      errors: (error.detail.errors ?? []).map(({ field, message }) => ({
        field: `changes[${place}].${field}`,
        message,
      })),
    });
  }
}
