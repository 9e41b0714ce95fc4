# csrc/capi/plait_ops.h and csrc/capi/op_words.h are what the schema of the ops and docs/ops.md say.
execute_process(COMMAND ${PRINT} OUTPUT_FILE ${SCHEMA} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PYTHON} ${MAKE} ${SCHEMA} --check COMMAND_ERROR_IS_FATAL ANY)
