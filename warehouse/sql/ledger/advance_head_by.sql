-- Takes the next :count seqs and gives the last of them; a rollback gives them back.
update ledger_head set seq = seq + :count where only_row = 1 returning seq
