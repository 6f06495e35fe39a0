-- Let a statement have a thread for each processor.
reset threads
